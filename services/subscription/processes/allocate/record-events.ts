import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { ResultEvent, PoolEvent, WeekEvent } from "../../domain/advance-pool.ts";
import { chainValuations, type DayPart, type Valuation, valuationsOf } from "../../domain/performance.ts";
import { allHoldings, totalUnits } from "../../domain/pool/units.ts";
import { type AllocationRow, insertEntries, insertRows, type NewAllocationEntry } from "../../store/allocations.ts";
import type { Master } from "../../store/masters.ts";
import { insertCompensations } from "../../store/compensations.ts";
import { insertOpenWeeks } from "../../store/open-weeks.ts";
import { addUnposted } from "../../store/postings.ts";
import { findLastPart } from "../../store/performance.ts";
import { type ActiveHolding, listActiveHoldings } from "../../store/unit-pools.ts";
import { UTC } from "#kernel/values/time-zone.ts";

/** The last part of a day of a pool's performance as each result and each mark has left it, in their order. */
export type Chain = readonly (DayPart | undefined)[];
type Numbered<S extends PoolEvent> = S & { readonly number: bigint };

/** Records the pool events: the allocation entries, the rows of each Investor and the amounts to post. */
export async function recordEvents(
  tx: Transaction,
  deps: Deps,
  master: Master,
  events: readonly PoolEvent[],
): Promise<Pick<Master, "lastAllocation" | "isInDeficit"> & { readonly chain: Chain }> {
  const { login, lastAllocation } = master;
  if (events.length === 0) return { chain: [], lastAllocation, isInDeficit: master.isInDeficit };
  const chain = await chained(tx, deps, { master, chain: [] }, valuationsOf(events));
  const numbered = events.map((event, index) => ({ ...event, number: lastAllocation + 1n + BigInt(index) }));
  const results = numbered.filter((event): event is Numbered<ResultEvent> => event.kind === "result");
  const weeks = numbered.filter((event): event is Numbered<WeekEvent> => event.kind === "week");
  const valued = new Map(results.map(({ number }, index) => [number, chain[index]]));
  await insertEntries(
    tx,
    login,
    numbered.map((event) => entryOf(event, valued.get(event.number))),
    deps.now(),
  );
  const active = weeks.length === 0 ? [] : await listActiveHoldings(tx, login);
  await insertRows(tx, login, [...results.flatMap(rowsOfResult), ...weeks.flatMap((week) => rowsOfWeek(week, active))]);
  await insertCompensations(
    tx,
    results.flatMap(({ number: allocationNumber, raised }) =>
      raised.raised.map((part) => ({ ...part, allocationNumber })),
    ),
    deps.now(),
  );
  await addUnposted(
    tx,
    results.flatMap(({ parts, raised }) => [...parts, ...raised.raised]),
  );
  await insertOpenWeeks(
    tx,
    login,
    weeks.map(({ number }) => number),
  );
  let { isInDeficit } = master;
  for (const { equity, deal } of results) {
    isInDeficit = followDeficit(tx, deps, { login, isInDeficit, filedDealId: deal.dealId }, equity);
  }
  logAnomalies(tx, deps, master, numbered);
  if (results.length > 0) afterCommit(tx, deps.wakeSignals.postings.notify);
  // Inflows have waited for the allocation of a loss.
  if (results.some(({ deal }) => deal.amount < 0n)) afterCommit(tx, deps.wakeSignals.mirrors.notify);
  if (weeks.length > 0) {
    afterCommit(tx, deps.wakeSignals.fees.notify);
    afterCommit(tx, deps.wakeSignals.results.notify);
    afterCommit(tx, deps.wakeSignals.strikes.notify);
  }
  return { chain, lastAllocation: lastAllocation + BigInt(events.length), isInDeficit };
}

/** The chain of the pool's values with further valuations. */
export async function chained(
  tx: Transaction,
  deps: Deps,
  { master: { login }, chain }: { readonly master: Pick<Master, "login">; readonly chain: Chain },
  valuations: readonly Valuation[],
): Promise<Chain> {
  if (valuations.length === 0) return chain;
  const last = chain.findLast((part) => part !== undefined) ?? (await findLastPart(tx, login));
  return [...chain, ...chainValuations(last, valuations, deps.serverDays ?? UTC)];
}

function entryOf(event: Numbered<PoolEvent>, valued: DayPart | undefined): NewAllocationEntry {
  const { number, pool } = event;
  const entry = { number, poolUnits: totalUnits(allHoldings(pool)), valued };
  if (event.kind === "week") {
    const { periodStart, cutOff, markedAt } = event;
    return { ...entry, periodStart, cutOff, markedAt };
  }
  const { deal, own, elsewhere } = event;
  const { number: logNumber, dealId, dealAt } = deal;
  const raised = event.raised.total;
  // The rest of the deal has raised holdings below zero.
  const amount = deal.amount - raised;
  return { ...entry, logNumber, dealId, dealAt, amount, own, raised, elsewhere, caseId: 0n };
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
  const holdings = new Map(pool.holdings.map((holding) => [holding.subscriptionId, holding]));
  return active
    .filter(({ startedAt }) => startedAt < cutOff)
    .map(({ subscriptionId }) => {
      const { pooled = 0n, carry = 0n, units = 0n } = holdings.get(subscriptionId) ?? {};
      return { number, subscriptionId, amount: 0n, pooled, carry, units, floating: shares.get(subscriptionId) ?? 0n };
    });
}

function logAnomalies(tx: Transaction, { log }: Deps, { login }: Master, events: readonly Numbered<PoolEvent>[]): void {
  const unallocated = events.filter(
    (event) => event.kind === "result" && event.own !== 0n && totalUnits(allHoldings(event.pool)) === 0n,
  );
  const late = events.filter((event) => event.kind === "result" && event.isLate);
  const missed = events.filter((event) => event.kind === "week" && event.markedAt !== undefined).slice(0, -1);
  afterCommit(tx, () => {
    for (const { number } of unallocated) log.warn("result kept in suspense, no Investor has units", { login, number });
    for (const { number } of late) log.warn("deal of a closed week counted in the open week", { login, number });
    for (const { number } of missed) log.warn("missed week closed late, later marks used", { login, number });
  });
}

/**
 * Whether the pool is in deficit with this equity: then Investors cannot join it, and inflows wait. No transfer fails: the broker's
 * compensation, or a result, ends it. Logged when it begins, with the last deal.
 */
export function followDeficit(
  tx: Transaction,
  { log, wakeSignals }: Deps,
  { login, isInDeficit: wasInDeficit, filedDealId: ticket }: Pick<Master, "login" | "isInDeficit" | "filedDealId">,
  equity: bigint,
): boolean {
  const isInDeficit = equity < 0n;
  if (isInDeficit && !wasInDeficit) {
    afterCommit(tx, () => log.warn("pool in deficit, no Investor can join until it is covered", { login, ticket }));
  }
  if (!isInDeficit && wasInDeficit) afterCommit(tx, wakeSignals.mirrors.notify);
  return isInDeficit;
}
