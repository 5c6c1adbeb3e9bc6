import type { Queryable } from "#kernel/postgres/query.ts";
import { type DueFee, decideDeparture, type DepartureDecision, openClaims } from "../domain/decide-departure.ts";
import { type Due, lessPrepaid } from "../domain/fees/due.ts";
import type { FeeFacts } from "../domain/fees/terms.ts";
import type { DecidedFee } from "../store/fee-decisions.ts";
import { listTakenFees } from "../store/fees.ts";
import { departureKey, feeSuffixOf, type Identified } from "../domain/departure.ts";
import { listOpenReserves } from "../store/reserves.ts";
import { decidedFees } from "./decide-due.ts";

/** What is due of a departure: its fees as they are recorded, and the items that are collected before its payout. */
export type DueOfDeparture = { readonly fees: readonly DecidedFee[]; readonly items: readonly DueFee[] };

/** Open weekly fees first, then what was decided now, less what was prepaid. */
export function dueOfDeparture(
  departure: Identified & { readonly investorLogin: string },
  due: readonly Due[],
  facts: FeeFacts,
): DueOfDeparture {
  const { investorLogin } = departure;
  const occasion = { key: departureKey(departure) };
  const fees = decidedFees(due, { investorLogin, suffix: feeSuffixOf(departure), occasion });
  const amounts = lessPrepaid(due, facts.prepaid);
  const own = fees.flatMap((fee, index): DueFee[] => {
    const amount = amounts[index] ?? 0n;
    return amount === 0n ? [] : [{ key: fee.key, amount, isWeekly: false }];
  });
  return { fees, items: [...facts.openWeekly, ...own] };
}

/** What an Investor has that leaves. */
export type Amounts = {
  /** On the account. */
  readonly held: bigint;
  readonly unposted: bigint;
  readonly quarantined: bigint;
  readonly pooled: bigint;
  /** False for money that no open reserve was taken from. */
  readonly countsReserves?: boolean;
};

type Wanted = {
  readonly departure: Identified & { readonly investorLogin: string; readonly requested: bigint };
  readonly due: DueOfDeparture;
  readonly amounts: Amounts;
};

/** Of an Investor that takes nothing but inflows that wait on the account: neither its other money nor open reserves count. */
export function inflowsOnly(waits: bigint): Amounts {
  return { held: waits, unposted: 0n, quarantined: 0n, pooled: waits, countsReserves: false };
}

/** The amounts of departures, each of another Investor, with the reserves that are open now; in the sequence of the array. */
export async function decideAmounts(db: Queryable, departures: readonly Wanted[]): Promise<DepartureDecision[]> {
  const reserves = await listOpenReserves(
    db,
    departures.map(({ departure }) => departure.investorLogin),
  );
  const reservesOf = Map.groupBy(reserves, ({ investorLogin }) => investorLogin);
  const taken = await listTakenFees(
    db,
    departures.flatMap(({ due }) => due.items.map(({ key }) => key)),
  );
  return departures.map(({ departure, due, amounts: { countsReserves = true, ...amounts } }) => {
    const { kind, requested, investorLogin } = departure;
    const open = openClaims({ due: due.items, taken, reserves: reservesOf.get(investorLogin) ?? [] });
    const facts = { kind, requested, ...amounts, due: open.due, reserved: countsReserves ? open.reserved : 0n };
    return decideDeparture(facts, departureKey(departure));
  });
}
