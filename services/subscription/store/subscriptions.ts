import { execute, many, matchesRow, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import {
  type LifecycleEvent,
  MOVES,
  OPEN_STATUSES,
  type SubscriptionStatus,
  VISIBLE_STATUSES,
} from "../domain/lifecycle.ts";

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

export type NewSubscription = Pick<Subscription, "masterId" | "investorId" | "masterLogin" | "investorLogin"> & {
  readonly commandId: string;
  readonly at: Date;
};

/** Undefined when the Investor or the command has an open subscription. */
export async function tryInsertSubscription(tx: Transaction, fresh: NewSubscription): Promise<bigint | undefined> {
  const row = await maybeOne<{ id: bigint }>(
    tx,
    sql`insert into subscription (command_id, master_id, investor_id, master_login, investor_login, status, created_at)
        values (${fresh.commandId}, ${fresh.masterId}, ${fresh.investorId}, ${fresh.masterLogin},
                ${fresh.investorLogin}, 'ASSIGNING', ${fresh.at})
        on conflict do nothing
        returning id`,
  );
  return row?.id;
}

export async function getSubscription(db: Queryable, id: bigint): Promise<Subscription> {
  return one<Subscription>(db, sql`select * from subscription_row where id = ${id}`);
}

/** Ascending by id. */
export async function listSubscriptionsById(db: Queryable, ids: readonly bigint[]): Promise<Subscription[]> {
  if (ids.length === 0) return [];
  return many<Subscription>(db, sql`select * from subscription_row where id = any(${ids}::bigint[]) order by id`);
}

/** The subscription of a command, unless it was refused. */
export async function findSubscriptionOfCommand(db: Queryable, commandId: string): Promise<Subscription | undefined> {
  return maybeOne<Subscription>(
    db,
    sql`select subscription_row.*
        from subscription_row join subscription using (id)
        where subscription.command_id = ${commandId} and subscription.status <> 'ABORTED'
          and subscription.command_id <> ''`,
  );
}

/** ASSIGNING, ACTIVE or PAUSED: an Investor has at most one. */
export async function findOpenSubscription(db: Queryable, investorLogin: string): Promise<Subscription | undefined> {
  return maybeOne<Subscription>(
    db,
    sql`select *
        from subscription_row
        where "investorLogin" = ${investorLogin} and status = any(${OPEN_STATUSES}::text[])`,
  );
}

/** Of each Investor the one that is ASSIGNING, ACTIVE or PAUSED. */
export async function listOpenSubscriptions(db: Queryable, investorLogins: readonly string[]): Promise<Subscription[]> {
  return many<Subscription>(
    db,
    sql`select id, "masterId", "investorId", "masterLogin", "investorLogin", status, "createdAt", "startedAt", "endedAt",
               "baselineEntryId"
        from subscription_row
        where "investorLogin" = any(${investorLogins}::text[]) and status = any(${OPEN_STATUSES}::text[])`,
  );
}

/** The newest subscription of a pair that is visible to callers. */
export async function findLatestOfPair(
  db: Queryable,
  { masterLogin, investorLogin }: { readonly masterLogin: string; readonly investorLogin: string },
): Promise<Subscription | undefined> {
  return maybeOne<Subscription>(
    db,
    sql`select *
        from subscription_row
        where "investorLogin" = ${investorLogin} and "masterLogin" = ${masterLogin}
          and status = any(${VISIBLE_STATUSES}::text[])
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

export type Baseline = { readonly startedAt: Date; readonly entryId: bigint };

/** False when the subscription was decided or aborted before. */
export async function setBaseline(tx: Transaction, id: bigint, { startedAt, entryId }: Baseline): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`update subscription
        set started_at = ${startedAt}, baseline_entry_id = ${entryId}
        where id = ${id} and status = 'ASSIGNING' and started_at is null`,
  );
}

/**
 * Makes a transition by compare-and-set; false when the status of one has changed. A decided assignment is not aborted, and an
 * undecided one does not become ACTIVE.
 */
export async function moveSubscriptions(
  tx: Transaction,
  ids: readonly bigint[],
  event: LifecycleEvent,
): Promise<boolean> {
  const { from, to } = MOVES[event];
  const moved = await execute(
    tx,
    sql`update subscription
        set status = ${to}
        where id = any(${ids}::bigint[]) and status = ${from} and (started_at is null) = (${event === "refused"})`,
  );
  return moved === ids.length;
}

/** PAUSED -> CANCELLED for subscriptions with an empty holding. Returns the cancelled subscriptions. */
export async function cancelEmptied(tx: Transaction, ids: readonly bigint[], at: Date): Promise<Subscription[]> {
  if (ids.length === 0) return [];
  const { from, to } = MOVES.emptied;
  const cancelled = await many<{ id: bigint }>(
    tx,
    sql`update subscription
        set status = ${to}, ended_at = ${at}
        where id = any(${ids}::bigint[]) and status = ${from}
          and exists (
            select
            from holding
            where subscription_id = id and inbound_minor = 0 and waiting_minor = 0 and pooled_minor = 0
              and reserved_minor = 0 and outbound_minor = 0
          )
        returning id`,
  );
  return await listSubscriptionsById(
    tx,
    cancelled.map(({ id }) => id),
  );
}
