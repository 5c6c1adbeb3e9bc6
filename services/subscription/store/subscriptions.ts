import { execute, fragment, many, matchesRow, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { HAS_NO_MONEY } from "./holdings.ts";
import { OPEN_STATUSES, type SubscriptionStatus, VISIBLE_STATUSES } from "../domain/lifecycle.ts";

export type Subscription = {
  readonly id: bigint;
  readonly masterId: bigint;
  readonly investorId: bigint;
  readonly masterLogin: string;
  readonly investorLogin: string;
  readonly status: SubscriptionStatus;
  readonly createdAt: Date;
  /** Null until decided, like the baseline. */
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly baselineEntryId: bigint | null;
};

export const SUBSCRIPTION_COLUMNS = fragment`
  id, master_id as "masterId", investor_id as "investorId", master_login as "masterLogin", investor_login as "investorLogin", status,
  created_at as "createdAt", started_at as "startedAt", ended_at as "endedAt", baseline_entry_id as "baselineEntryId"`;

export const SUBSCRIPTIONS = fragment`select ${SUBSCRIPTION_COLUMNS} from subscription`;

export async function getSubscription(db: Queryable, id: bigint): Promise<Subscription> {
  return one<Subscription>(db, sql`${SUBSCRIPTIONS} where id = ${id}`);
}

/** The subscription of a command, unless it was refused. */
export async function findSubscriptionOfCommand(db: Queryable, commandId: string): Promise<Subscription | undefined> {
  return maybeOne<Subscription>(
    db,
    sql`${SUBSCRIPTIONS} where command_id = ${commandId} and command_id <> '' and status <> 'ABORTED'`,
  );
}

/** ASSIGNING, ACTIVE or PAUSED: an Investor has at most one. */
export async function findOpenSubscription(db: Queryable, investorLogin: string): Promise<Subscription | undefined> {
  return (await listOpenSubscriptions(db, [investorLogin]))[0];
}

/** Of each Investor the one that is ASSIGNING, ACTIVE or PAUSED. */
export async function listOpenSubscriptions(db: Queryable, investorLogins: readonly string[]): Promise<Subscription[]> {
  return many<Subscription>(
    db,
    sql`${SUBSCRIPTIONS} where investor_login = any(${investorLogins}::text[]) and status = any(${OPEN_STATUSES}::text[])`,
  );
}

/** The newest subscription of a pair that is visible to callers. */
export async function findLatestOfPair(
  db: Queryable,
  { masterLogin, investorLogin }: { readonly masterLogin: string; readonly investorLogin: string },
): Promise<Subscription | undefined> {
  return maybeOne<Subscription>(
    db,
    sql`${SUBSCRIPTIONS}
        where investor_login = ${investorLogin} and master_login = ${masterLogin} and status = any(${VISIBLE_STATUSES}::text[])
        order by id desc
        limit 1`,
  );
}

/** Whether the Investor has ever had a subscription. */
export async function hasFollowedBefore(db: Queryable, investorLogin: string): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select id
        from subscription
        where investor_login = ${investorLogin} and status = any(${VISIBLE_STATUSES}::text[])
        limit 1`,
  );
}

/** Makes a transition by compare-and-set; false when the status of one has changed. Only a decided assignment becomes ACTIVE. */
export async function moveSubscriptions(
  tx: Transaction,
  ids: readonly bigint[],
  { from, to }: { readonly from: SubscriptionStatus; readonly to: SubscriptionStatus },
): Promise<boolean> {
  const moved = await execute(
    tx,
    sql`update subscription
        set status = ${to}
        where id = any(${ids}::bigint[]) and status = ${from} and started_at is not null`,
  );
  return moved === ids.length;
}

/** PAUSED -> CANCELLED for subscriptions with an empty holding, which are returned. */
export async function cancelEmptied(tx: Transaction, ids: readonly bigint[], at: Date): Promise<Subscription[]> {
  if (ids.length === 0) return [];
  return await many<Subscription>(
    tx,
    sql`update subscription
        set status = 'CANCELLED', ended_at = ${at}
        where id = any(${ids}::bigint[]) and status = 'PAUSED'
          and exists (select from holding where holding.subscription_id = subscription.id and ${HAS_NO_MONEY})
        returning ${SUBSCRIPTION_COLUMNS}`,
  );
}
