import type { Log } from "#kernel/log.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { ResultEvent, PoolEvent, WeekEvent } from "../../domain/advance-pool.ts";
import type { DayPart } from "../../domain/performance.ts";
import type { UnitPool, UnitHolding } from "../../domain/pool/unit-pool.ts";
import { allHoldings, totalUnits } from "../../domain/pool/units.ts";
import { type AllocationRow, insertEntries, insertRows, type NewAllocationEntry } from "../../store/allocations.ts";
import type { Master } from "../../store/masters.ts";
import { insertCompensations } from "../../store/compensations.ts";
import { insertOpenWeeks } from "../../store/open-weeks.ts";
import { addUnposted } from "../../store/postings.ts";
import type { ActiveHolding } from "../../store/unit-pools.ts";

type Pooled = {
  readonly master: Master;
  readonly active: readonly ActiveHolding[];
  /** The performance after each result. */
  readonly chain: readonly (DayPart | undefined)[];
};
type Numbered<S extends PoolEvent> = S & { readonly number: bigint };

/** Records the pool events: the allocation entries, the rows of each Investor and the amounts to post. */
export async function recordEvents(
  tx: Transaction,
  deps: Deps,
  { master, active, chain }: Pooled,
  events: readonly PoolEvent[],
): Promise<Pick<Master, "lastAllocation" | "isInDeficit">> {
  const { login } = master;
  const numbered = events.map((event, index) => ({ ...event, number: master.lastAllocation + 1n + BigInt(index) }));
  const results = numbered.filter((event): event is Numbered<ResultEvent> => event.kind === "result");
  const weeks = numbered.filter((event): event is Numbered<WeekEvent> => event.kind === "week");
  const valued = new Map(results.map(({ number }, index) => [number, chain[index]]));
  await insertEntries(
    tx,
    login,
    numbered.map((event) => entryOf(event, valued.get(event.number))),
    deps.now(),
  );
  await insertRows(tx, login, [...results.flatMap(rowsOfResult), ...weeks.flatMap((week) => rowsOfWeek(week, active))]);
  await insertCompensations(
    tx,
    results.flatMap(({ number: allocationNumber, raised }) =>
      raised.raised.map((part) => ({ ...part, allocationNumber })),
    ),
    deps.now(),
  );
  await addUnposted(tx, unpostedOf(results, active));
  await insertOpenWeeks(
    tx,
    login,
    weeks.map(({ number }) => number),
  );
  const isInDeficit = trackDeficit(tx, deps, master, results);
  logAnomalies(tx, deps, master, numbered);
  if (results.length > 0) afterCommit(tx, deps.wakeSignals.postings.notify);
  // Inflows have waited for the end of a deficit, or for the allocation of a loss.
  if (master.isInDeficit || results.some(({ deal }) => deal.amount < 0n)) {
    afterCommit(tx, deps.wakeSignals.mirrors.notify);
  }
  if (weeks.length > 0) {
    afterCommit(tx, deps.wakeSignals.fees.notify);
    afterCommit(tx, deps.wakeSignals.results.notify);
    afterCommit(tx, deps.wakeSignals.strikes.notify);
  }
  return { lastAllocation: master.lastAllocation + BigInt(events.length), isInDeficit };
}

function entryOf(event: Numbered<PoolEvent>, valued: DayPart | undefined): NewAllocationEntry {
  const { number, pool } = event;
  const poolUnits = totalUnits(allHoldings(pool));
  if (event.kind === "week") {
    const { periodStart, cutOff, markedAt } = event;
    return { number, poolUnits, result: undefined, week: { periodStart, cutOff, markedAt }, valued };
  }
  const { deal, own, raised, elsewhere } = event;
  const { number: logNumber, dealId, dealAt } = deal;
  const result = {
    logNumber,
    dealId,
    dealAt,
    amount: resultOf(event),
    own,
    raised: raised.total,
    elsewhere,
    caseId: 0n,
  };
  return { number, poolUnits, result, week: undefined, valued };
}

/** What of the deal was shared as a result; the rest has raised holdings below zero. */
function resultOf({ deal, raised }: Pick<ResultEvent, "deal" | "raised">): bigint {
  return deal.amount - raised.total;
}

/** A row for each Investor with units, also with a part of 0.00: what repairs the result later is divided by them. */
function rowsOfResult({ number, parts, pool }: Numbered<ResultEvent>): AllocationRow[] {
  const amounts = new Map(parts.map(({ subscriptionId, amount }) => [subscriptionId, amount]));
  return pool.holdings.flatMap(({ subscriptionId, pooled, carry, units }) => {
    const amount = amounts.get(subscriptionId) ?? 0n;
    return amount === 0n && units === 0n
      ? []
      : [{ number, subscriptionId, amount, pooled, carry, units, floating: 0n }];
  });
}

/** A row for each Investor in the pool at the cut-off, also with a floating result of 0. */
function rowsOfWeek(
  { number, cutOff, shares, pool }: Numbered<WeekEvent>,
  active: readonly ActiveHolding[],
): AllocationRow[] {
  const holdings = holdingsOf(pool);
  return active
    .filter(({ startedAt }) => startedAt < cutOff)
    .map(({ subscriptionId }) => {
      const { pooled = 0n, carry = 0n, units = 0n } = holdings.get(subscriptionId) ?? {};
      return { number, subscriptionId, amount: 0n, pooled, carry, units, floating: shares.get(subscriptionId) ?? 0n };
    });
}

function holdingsOf({ holdings }: UnitPool): ReadonlyMap<bigint, UnitHolding> {
  return new Map(holdings.map((holding) => [holding.subscriptionId, holding]));
}

function unpostedOf(results: readonly ResultEvent[], active: readonly ActiveHolding[]) {
  const total = new Map<bigint, bigint>();
  for (const { parts, raised } of results) {
    for (const { subscriptionId, amount } of [...parts, ...raised.raised]) {
      total.set(subscriptionId, (total.get(subscriptionId) ?? 0n) + amount);
    }
  }
  return active
    .filter(({ subscriptionId }) => total.has(subscriptionId))
    .map(({ subscriptionId, investorLogin }) => ({ investorLogin, amount: total.get(subscriptionId) ?? 0n }));
}

/** Whether the pool is in deficit after the results. Logged when it begins, not again with every result while it lasts. */
function trackDeficit(tx: Transaction, { log }: Deps, { login, ...master }: Master, results: readonly ResultEvent[]) {
  let { isInDeficit } = master;
  for (const { equity, deal } of results) {
    if (equity < 0n && !isInDeficit) logDeficit(tx, log, { login, dealId: deal.dealId });
    isInDeficit = equity < 0n;
  }
  return isInDeficit;
}

function logAnomalies(tx: Transaction, { log }: Deps, { login }: Master, events: readonly Numbered<PoolEvent>[]): void {
  const unallocated = events.filter((event) => event.kind === "result" && event.own !== 0n && isWithoutUnits(event));
  const late = events.filter((event) => event.kind === "result" && event.isLate);
  const missed = events.filter((event) => event.kind === "week" && event.markedAt !== undefined).slice(0, -1);
  afterCommit(tx, () => {
    for (const { number } of unallocated) log.warn("result kept in suspense, no Investor has units", { login, number });
    for (const { number } of late) log.warn("deal of a closed week counted in the open week", { login, number });
    for (const { number } of missed) log.warn("missed week closed late, later marks used", { login, number });
  });
}

function isWithoutUnits({ pool }: ResultEvent): boolean {
  return totalUnits(allHoldings(pool)) === 0n;
}

/** Investors cannot join the pool until its equity is positive again. No transfer fails: the broker's compensation, or a result, ends it. */
export function logDeficit(tx: Transaction, log: Log, { login, dealId }: { login: string; dealId: bigint }): void {
  afterCommit(tx, () =>
    log.warn("pool in deficit, no Investor can join until it is covered", { login, ticket: dealId }),
  );
}
