import { type Crystallisation, crystallise } from "./crystallise.ts";
import { explainFee, type Explanation } from "./explain.ts";
import type { Earnings } from "./layers.ts";
import { type Debt, inOrder, isEnabledAt, rateAt, sumOfDebts, type Terms } from "./terms.ts";

/** Something that an Investor has to pay now. */
export type Due = {
  readonly kind: "PF" | "PF_DEBT";
  /** The Master to whom it is owed. */
  readonly masterLogin: string;
  /** Cents, positive. */
  readonly amount: bigint;
  readonly since: Date;
  /** Undefined for a debt. */
  readonly explanation: Explanation | undefined;
};

export type DueFacts = {
  readonly masterLogin: string;
  readonly earnings: Earnings;
  readonly terms: Terms;
  /** Debts to all Masters. */
  readonly debts: readonly Debt[];
  /** Signed, units of 1e-8 USD; 0 when the Master is flat. */
  readonly floating: bigint;
  readonly markedAt: Date | undefined;
  /** The last entry of the Master's allocations whose results count. */
  readonly throughNumber?: bigint | undefined;
  /** When the fee before was decided; undefined before the first one. */
  readonly since?: Date | undefined;
  /** The cut-off of a week, or the instant of a decision. */
  readonly at: Date;
};

export type DecidedDue = {
  readonly earnings: Earnings;
  /** In the sequence of collection: debts, oldest first, then the fee. */
  readonly due: readonly Due[];
};

/** Everything that is due at an instant. While the switch is off nothing is due, debts included, and earnings do not change. */
export function decideDue(facts: DueFacts): DecidedDue {
  const { masterLogin, earnings, terms, debts, at } = facts;
  if (!isEnabledAt(terms, at)) return { earnings, due: [] };
  const owed = dueDebts(debts);
  const decided = crystalliseAt(facts);
  if (decided.fee === 0n) return { earnings, due: owed };
  const fee: Due = { kind: "PF", masterLogin, amount: decided.fee, since: at, explanation: explain(facts, decided) };
  return { earnings: decided.after, due: [...owed, fee] };
}

/** How the profit is charged at an instant, also where the fee is below one cent; undefined while the switch is off. */
export function explainDue(facts: DueFacts): Explanation | undefined {
  return isEnabledAt(facts.terms, facts.at) ? explain(facts, crystalliseAt(facts)) : undefined;
}

function crystalliseAt({ earnings, terms, floating }: DueFacts): Crystallisation {
  return crystallise(earnings, { floating, rateAt: (earnedAt) => rateAt(terms, earnedAt) });
}

function explain(facts: DueFacts, decided: Crystallisation): Explanation {
  return explainFee({ ...facts, ...decided, before: facts.earnings, debtBefore: sumOfDebts(facts.debts) });
}

/** Outside a pool only debts are due. */
export function decideDebts({ terms, debts, at }: Pick<DueFacts, "terms" | "debts" | "at">): readonly Due[] {
  return isEnabledAt(terms, at) ? dueDebts(debts) : [];
}

/** What is left of each amount after imported fees of its Master have paid, in the sequence of collection: as payments are inserted. */
export function lessPrepaid(
  due: readonly Pick<Due, "masterLogin" | "amount">[],
  prepaid: ReadonlyMap<string, bigint>,
): bigint[] {
  const left = new Map(prepaid);
  return due.map(({ masterLogin, amount }) => {
    const paid = left.get(masterLogin) ?? 0n;
    const taken = paid < amount ? paid : amount;
    left.set(masterLogin, paid - taken);
    return amount - taken;
  });
}

function dueDebts(debts: readonly Debt[]): Due[] {
  return inOrder(debts).map(({ masterLogin, amount, since }) => {
    return { kind: "PF_DEBT", masterLogin, amount, since, explanation: undefined };
  });
}

/** Last part of the unique key of every fee of a closed week, and of every collected debt. */
export const WEEK_SUFFIX = "W";
export const DEBT_SUFFIX = "DEBT";

/** What a fee is decided for: the week that ends at a cut-off, or a withdrawal or exit under its key. */
export type Occasion =
  | { readonly cutOff: Date; readonly key?: undefined }
  | { readonly key: string; readonly cutOff?: undefined };

type KeyedFee = {
  readonly investorLogin: string;
  readonly masterLogin: string;
  /** W, WD<operation id>, UA<subscription id> or DEBT. */
  readonly suffix: string;
};

/**
 * Key of the transfer that collects a fee. It has what the fee is for and no number of a row: a week that is decided again, after a database
 * was restored, has the same keys, so platform answers with what was executed.
 */
export function paymentKey(occasion: Occasion, { investorLogin, masterLogin, suffix }: KeyedFee): string {
  const owner = `fee:${investorLogin}:${masterLogin}:${suffix}`;
  if (occasion.cutOff !== undefined) return `${owner}:${occasion.cutOff.toISOString()}`;
  return suffix === DEBT_SUFFIX ? `${owner}:${occasion.key}` : owner;
}
