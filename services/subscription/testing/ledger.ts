import assert from "node:assert/strict";
import { many, sql } from "#kernel/postgres/query.ts";
import type { Money } from "#proto/pamm/common/v1/money.ts";
import { readPairs } from "../store/pairs.ts";
import type { Check, Finding } from "#kernel/reconcile/check.ts";
import { balanceOf } from "#test/support/platform-fake/ledger.ts";
import type { Buckets } from "../domain/buckets.ts";
import { findPoolLedger } from "../store/pool-ledger.ts";
import { aCall, type World } from "./world.ts";

const NOTHING_FILED = { own: 0n, imported: 0n, unallocated: 0n, holdings: [] };

/** The books of a pool at one instant, in cents: its holdings, ascending by subscription, and the money that belongs to no Investor. */
export async function poolLedger({ deps }: Pick<World, "deps">, masterLogin: string) {
  const ledger = (await findPoolLedger(deps.pool, masterLogin)) ?? NOTHING_FILED;
  const { own, imported, unallocated } = ledger;
  const holdings = ledger.holdings.map(({ subscriptionId, investorLogin, ...holding }) => {
    const { outside, quarantined, unposted, inbound, waiting, pooled, reserved, outbound } = holding;
    const buckets: Buckets = { outside, quarantined, unposted, inbound, waiting, pooled, reserved, outbound };
    return { subscriptionId, investorLogin, ...buckets };
  });
  return { external: own + imported + unallocated, holdings };
}

/** One bucket of each holding of a pool. */
export async function inBucket(world: World, masterLogin: string, bucket: keyof Buckets): Promise<bigint[]> {
  const { holdings } = await poolLedger(world, masterLogin);
  return holdings.map((holding) => holding[bucket]);
}

export async function holdingOf(world: World, masterLogin: string, id: bigint): Promise<Buckets | undefined> {
  const { holdings } = await poolLedger(world, masterLogin);
  return holdings.find(({ subscriptionId }) => subscriptionId === id);
}

export function balances({ platform }: Pick<World, "platform">, ...logins: readonly string[]): bigint[] {
  return logins.map((login) => balanceOf(platform.ledger, login));
}

/** What is under review on a Master, its own capital, and whether the books and the platform agree. */
export async function ownCapitalOf(
  world: World,
  masterLogin: string,
): Promise<[bigint | undefined, bigint | undefined, boolean]> {
  const { master, converged } = await proofOf(world, masterLogin);
  return [master?.quarantined?.minorUnits, master?.ownCapital?.minorUnits, converged];
}

/** Pooled amounts of the Investors, and the money of the Master that belongs to no Investor. */
export async function sharesOf(world: World, masterLogin: string): Promise<bigint[]> {
  const { holdings, external } = await poolLedger(world, masterLogin);
  return [...holdings.map(({ pooled }) => pooled), external];
}

export async function proofOf({ service }: World, masterLogin: string) {
  return await service.getProof({ masterLogin, afterSubscriptionId: 0n, limit: 10 }, aCall());
}

export async function findingsOf(check: Check): Promise<readonly Finding[]> {
  return (await check.run({ cursor: "", pendingBreaks: [] })).findings;
}

export function cents(money: Money | undefined): bigint {
  return money?.minorUnits ?? 0n;
}

export type Entry = {
  readonly number: bigint;
  readonly kind: "RESULT" | "WEEK";
  readonly result: bigint | null;
  readonly dealId: bigint | null;
  readonly dealAt: Date | null;
  readonly periodStart: Date | null;
  readonly cutOff: Date | null;
  readonly markedAt: Date | null;
};

/** The allocation entries of a Master in their order. */
export async function entriesOf({ deps }: World, masterLogin: string): Promise<Entry[]> {
  return await many<Entry>(
    deps.pool,
    sql`select number, kind, result_minor as result, deal_id as "dealId", deal_at as "dealAt", period_start as "periodStart",
               cut_off as "cutOff", marked_at as "markedAt"
        from allocation_entry
        where master_login = ${masterLogin}
        order by number`,
  );
}

/** Amount in cents and share of the floating result in units of 1e-8 USD, ascending by subscription. */
export async function partsOf(
  { deps }: World,
  masterLogin: string,
  number: bigint,
): Promise<(readonly [bigint, bigint])[]> {
  const rows = await many<{ amount: bigint; floating: bigint }>(
    deps.pool,
    sql`select amount_minor as amount, floating_e8 as floating
        from allocation_row
        where master_login = ${masterLogin} and number = ${number}
        order by subscription_id`,
  );
  return rows.map(({ amount, floating }) => [amount, floating]);
}

/** The profit of an Investor with a Master as it is stored, with its layers from bottom to top. */
export async function pairOf(
  { deps }: World,
  { investorLogin, masterLogin }: { investorLogin: string; masterLogin: string },
) {
  const pairs = await readPairs(deps.pool, masterLogin, [investorLogin]);
  const pair = pairs.get(investorLogin);
  assert(pair !== undefined);
  const { earned, mark, layers } = pair.earnings;
  return { foldedNumber: pair.foldedNumber, earned, mark, layers: layers.map(({ amount }) => amount) };
}

/** Why the only Master is stopped. */
export async function stopReasonOf({ deps }: World): Promise<string | null | undefined> {
  const [row] = await many<{ reason: string | null }>(deps.pool, sql`select stopped_reason as reason from master_pool`);
  return row?.reason;
}

/** The published events of a feed, by message name. */
export async function publishedEvents({ deps }: World, feed: string): Promise<string[]> {
  const rows = await many<{ type: string }>(deps.pool, sql`select type from outbox where feed = ${feed} order by id`);
  return rows.map(({ type }) => type.replace(/^.*\./, ""));
}
