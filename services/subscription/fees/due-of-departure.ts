import type { Queryable } from "#kernel/postgres/query.ts";
import { type DueFee, decideDeparture, type DepartureDecision, openClaims } from "../domain/decide-departure.ts";
import { type Due, lessPrepaid } from "../domain/fees/due.ts";
import type { FeeFacts } from "../domain/fees/terms.ts";
import type { DecidedFee } from "../store/fee-decisions.ts";
import { listTakenFees } from "../store/fees.ts";
import type { NewLeave } from "../store/leaves.ts";
import { listOpenReserves } from "../store/reserves.ts";
import { decidedFees } from "./decide-due.ts";

/** A leave, with the last part of the unique keys of its fees. */
type OwnerOfFees = Pick<NewLeave, "key" | "investorLogin"> & { readonly feeSuffix: string };

/** What is due of a leave: its fees as they are recorded, and the items that are collected before its payout. */
export type DueOfDeparture = { readonly fees: readonly DecidedFee[]; readonly items: readonly DueFee[] };

/** Open weekly fees first, then what was decided now, less what was prepaid. */
export function dueOfDeparture(
  { key, investorLogin, feeSuffix }: OwnerOfFees,
  due: readonly Due[],
  facts: FeeFacts,
): DueOfDeparture {
  const fees = decidedFees(due, { investorLogin, suffix: feeSuffix, occasion: { key } });
  const amounts = lessPrepaid(due, facts.prepaid);
  const own = fees.flatMap((fee, index): DueFee[] => {
    const amount = amounts[index] ?? 0n;
    return amount === 0n ? [] : [{ key: fee.key, amount, isWeekly: false }];
  });
  return { fees, items: [...facts.openWeekly, ...own] };
}

type Amounts = {
  readonly leave: Pick<NewLeave, "kind" | "requested" | "investorLogin" | "payoutKey">;
  readonly due: DueOfDeparture;
  /** What the account has. */
  readonly held: bigint;
  readonly unposted: bigint;
  readonly quarantined: bigint;
  readonly pooled: bigint;
  /** False for money that no open reserve was taken from. */
  readonly countsReserves?: boolean;
};

/** The amounts of leaves, each of another Investor, with the reserves that are open now; in the sequence of the array. */
export async function decideAmounts(db: Queryable, leaves: readonly Amounts[]): Promise<DepartureDecision[]> {
  const reserves = await listOpenReserves(
    db,
    leaves.map(({ leave }) => leave.investorLogin),
  );
  const reservesOf = Map.groupBy(reserves, ({ investorLogin }) => investorLogin);
  const taken = await listTakenFees(
    db,
    leaves.flatMap(({ due }) => due.items.map(({ key }) => key)),
  );
  return leaves.map(({ leave, due, held, unposted, quarantined, pooled, countsReserves = true }) => {
    const { kind, requested, investorLogin, payoutKey } = leave;
    const { due: owed, reserved } = openClaims({
      due: due.items,
      taken,
      reserves: reservesOf.get(investorLogin) ?? [],
    });
    const claims = { due: owed, reserved: countsReserves ? reserved : 0n };
    return decideDeparture({ kind, requested, held, unposted, quarantined, pooled, ...claims }, payoutKey);
  });
}
