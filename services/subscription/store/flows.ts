import { execute, fragment, many, one, type Queryable, sql, unnest } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { HoldingFlow, SourcedFlow } from "../domain/books.ts";
import { inParts } from "../domain/parts.ts";

/** A flow that no mirror carries yet. */
export type OpenFlow = HoldingFlow & { readonly id: bigint; readonly masterLogin: string };

/** Condition on a flow and its pool: imported mirrors have moved it already, with all outflows and the inflows before it. */
const isMovedBefore = fragment`(pool.imported_mirrors_minor > 0 and pool.imported_mirrors_minor >= (
  select sum(earlier.amount_minor)
  from flow as earlier
  where earlier.master_login = pool.login and earlier.mirror_id is null and (earlier.amount_minor < 0 or earlier.id <= flow.id)
))`;

/**
 * Condition on a flow, its holding and the pool of its Master: it is an inflow that a loss would take, because the pool, or the holding in a flat
 * pool, is below zero, or that cannot be moved, because the broker has archived the account of the Master. It stays on the account of the Investor
 * until that has ended.
 */
export const isHeldInflow = fragment`(flow.amount_minor > 0 and not ${isMovedBefore} and (
  pool.is_in_deficit or pool.archived_next_at is not null or (
    holding.pooled_minor < 0 and not exists (select from pool_position where pool_position.master_login = pool.login)
  )
))`;

/** The same, or a loss that is not allocated yet may turn out to be one that takes it; or an outflow for which the Master has no free margin. */
const isDelayed = fragment`(
  ${isHeldInflow} or (flow.amount_minor > 0 and pool.unallocated_minor < 0 and not ${isMovedBefore})
  or (flow.amount_minor < 0 and pool.margin_next_at > statement_timestamp())
)`;

/** Condition on a pool: it has a flow that can be mirrored now. */
export const hasFlowToMirror = fragment`exists (
  select from flow join holding on holding.subscription_id = flow.subscription_id
  where flow.master_login = pool.login and flow.mirror_id is null and not ${isDelayed}
)`;

/** Inserts flows. The Master is read from the subscription, so a flow cannot be mirrored on another Master. */
export async function insertFlows(tx: Transaction, changes: readonly SourcedFlow[], at: Date): Promise<void> {
  const flows = changes.flatMap(({ subscriptionId, source, ...change }) =>
    inParts(change.amount).map((amount) => ({ subscriptionId, source, amount })),
  );
  if (flows.length === 0) return;
  await execute(
    tx,
    sql`insert into flow (subscription_id, master_login, amount_minor, created_at, source_key)
        select subscription.id, subscription.master_login, fresh.amount, ${at}, fresh.source
        from ${unnest(flows)} with ordinality as fresh (subscription_id bigint, amount bigint, source text, ordinal)
             join subscription on subscription.id = fresh.subscription_id
        order by ordinal`,
  );
}

/**
 * The first open flows of each Master that has no open mirror, at most `limit` of each, in their order, without those that wait. The caller has locked the pools, so no other transaction takes these flows.
 */
export async function listOpenFlows(
  tx: Transaction,
  masterLogins: readonly string[],
  limit: number,
): Promise<OpenFlow[]> {
  if (masterLogins.length === 0) return [];
  return many<OpenFlow>(
    tx,
    sql`select flow.id, login as "masterLogin", flow.subscription_id as "subscriptionId", flow.amount_minor as amount
        from master_pool as pool
             cross join lateral (
               select flow.id, flow.subscription_id, flow.amount_minor
               from flow join holding on holding.subscription_id = flow.subscription_id
               where flow.master_login = pool.login and flow.mirror_id is null and not ${isDelayed}
               order by flow.id
               limit ${limit}
             ) as flow
        where pool.login = any(${masterLogins}::text[])
          and not exists (select from mirror where mirror.master_login = pool.login and mirror.state = 'OPEN')
        order by flow.id`,
  );
}

/**
 * Takes up to `amount` cents out of the inflows of a holding that no mirror carries, the newest first; returns what it has taken. The caller has
 * locked the pool and the holding.
 */
export async function takeBackFlows(tx: Transaction, subscriptionId: bigint, amount: bigint): Promise<bigint> {
  if (amount === 0n) return 0n;
  const flows = await many<{ id: bigint; amount: bigint }>(
    tx,
    sql`select id, amount_minor as amount
        from flow
        where subscription_id = ${subscriptionId} and mirror_id is null and amount_minor > 0
        order by id desc`,
  );
  let left = amount;
  for (const flow of flows) {
    if (left === 0n) break;
    const taken = flow.amount < left ? flow.amount : left;
    left -= taken;
    if (taken === flow.amount) await execute(tx, sql`delete from flow where id = ${flow.id}`);
    else await execute(tx, sql`update flow set amount_minor = amount_minor - ${taken} where id = ${flow.id}`);
  }
  return amount - left;
}

export type FlowRange = {
  readonly investorLogin: string;
  readonly masterLogin: string;
  /** Undefined for all from the first assign on. */
  readonly after: Date | undefined;
  readonly through: Date;
};

export type FlowSums = {
  readonly inflow: bigint;
  readonly outflow: bigint;
  /** Since when flows are summed up; undefined when the Investor was never assigned to the Master. */
  readonly begunAt: Date | undefined;
};

/** Over all subscriptions of an Investor to a Master. The lists are of one Investor: few subscriptions, and their flows by an index. */
export async function sumFlows(
  db: Queryable,
  { investorLogin, masterLogin, after, through }: FlowRange,
): Promise<FlowSums> {
  const since = after === undefined ? fragment`true` : fragment`flow.created_at > ${after}`;
  const row = await one<{ inflow: bigint; outflow: bigint; startedAt: Date | null }>(
    db,
    sql`select coalesce(sum(flow.amount_minor) filter (where flow.amount_minor > 0), 0)::bigint as inflow,
               coalesce(-sum(flow.amount_minor) filter (where flow.amount_minor < 0), 0)::bigint as outflow,
               min(subscription.started_at) as "startedAt"
        from subscription
             left join flow on flow.subscription_id = subscription.id and flow.created_at <= ${through} and ${since}
        where subscription.investor_login = ${investorLogin} and subscription.master_login = ${masterLogin}
          and subscription.started_at is not null`,
  );
  const { inflow, outflow, startedAt } = row;
  const isLater = after !== undefined && startedAt !== null && after > startedAt;
  return { inflow, outflow, begunAt: isLater ? after : (startedAt ?? undefined) };
}
