import { fragment, many, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { HoldingFlow, SourcedFlow } from "../domain/books.ts";
import { inParts } from "../domain/parts.ts";

/** A flow that no mirror carries yet. */
export type OpenFlow = HoldingFlow & { readonly id: bigint; readonly masterLogin: string };

/** Inserts flows. The Master is read from the subscription, so a flow cannot be mirrored on another Master. */
export async function insertFlows(tx: Transaction, changes: readonly SourcedFlow[], at: Date): Promise<void> {
  const flows = changes.flatMap((change) => inParts(change.amount).map((amount) => ({ ...change, amount })));
  if (flows.length === 0) return;
  await many(
    tx,
    sql`insert into flow (subscription_id, master_login, amount_minor, created_at, source_key)
        select subscription.id, subscription.master_login, fresh.amount, ${at}, fresh.source
        from unnest(
               ${flows.map(({ subscriptionId }) => subscriptionId)}::bigint[],
               ${flows.map(({ amount }) => amount)}::bigint[],
               ${flows.map(({ source }) => source)}::text[]
             ) with ordinality as fresh (subscription_id, amount, source, ordinal)
             join subscription on subscription.id = fresh.subscription_id
        order by ordinal`,
  );
}

/**
 * The first open flows of each Master that has no open mirror, at most `limit` of each, in their order; of Masters whose outflows wait, the
 * inflows. The caller has locked the pools, so no other transaction takes these flows.
 */
export async function listOpenFlows(
  tx: Transaction,
  masterLogins: readonly string[],
  { limit, withoutOutflows }: { readonly limit: number; readonly withoutOutflows: readonly string[] },
): Promise<OpenFlow[]> {
  if (masterLogins.length === 0) return [];
  return many<OpenFlow>(
    tx,
    sql`select flow.id, login as "masterLogin", flow.subscription_id as "subscriptionId", flow.amount_minor as amount
        from unnest(${masterLogins}::text[]) as pool (login)
             cross join lateral (
               select id, subscription_id, amount_minor
               from flow
               where master_login = pool.login and mirror_id is null
                 and (amount_minor > 0 or pool.login <> all (${withoutOutflows}::text[]))
               order by id
               limit ${limit}
             ) as flow
        where not exists (select from mirror where mirror.master_login = pool.login and mirror.state = 'OPEN')
        order by flow.id`,
  );
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
