import type { Models } from "../../../client/index.ts";
import { investorHref } from "../../app/addresses.ts";
import { SHADES, type StackPart } from "../../components/stack/stack.tsx";
import { addDecimals, compareDecimals, isZero, subtractDecimals } from "../../formats/decimal.ts";

type Sums = Pick<Models["Proof"], "total" | "master" | "investors_count">;

export type Composition = { readonly parts: readonly StackPart[]; readonly whole: string };

/** The largest shares of the pool, then all others and own capital of the Master. Only Investors that were read can be named. */
export function compositionOf(proof: Sums, investors: readonly Models["AccountProof"][]): Composition {
  const { total, master } = proof;
  const ofInvestors = subtractDecimals(total.ledger_balance, master.ledger_balance);
  const largest = investors
    .toSorted((left, right) => compareDecimals(right.ledger_balance, left.ledger_balance))
    .slice(0, SHADES);
  const rest = subtractDecimals(ofInvestors, addDecimals(largest.map(({ ledger_balance: amount }) => amount)));
  const others = Number(proof.investors_count) - largest.length;
  const parts: (StackPart | false)[] = [
    ...largest.map(({ mt5_login: login, ledger_balance: amount }, shade) => ({
      id: login,
      title: login,
      amount,
      shade,
      href: investorHref(login),
    })),
    others > 0 && { id: "others", title: `${others} other${others === 1 ? "" : "s"}`, amount: rest, shade: "rest" },
    !isZero(master.own_capital) && {
      id: "own",
      title: "Own capital of the Master",
      amount: master.own_capital,
      shade: "spared",
    },
  ];
  return {
    parts: parts.filter((part) => part !== false),
    whole: addDecimals([ofInvestors, master.own_capital]),
  };
}
