import { fragment, many, matchesRow, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import { retryAt, workQueue } from "#kernel/work-queue/work-queue.ts";
import type { LeftInPool } from "../domain/closing.ts";
import type { Subscription } from "./subscriptions.ts";

/** The saga that closes a Master. */
export type Closing = {
  readonly masterLogin: string;
  readonly state: "CLOSING" | "ARCHIVED";
  readonly requestedAt: Date;
  readonly archivedAt: Date | null;
  readonly progressedAt: Date;
  readonly reason: string | null;
};

export async function findClosing(db: Queryable, masterLogin: string): Promise<Closing | undefined> {
  return maybeOne<Closing>(
    db,
    sql`select master_login as "masterLogin", state, requested_at as "requestedAt", archived_at as "archivedAt",
               progressed_at as "progressedAt", reason
        from closing
        where master_login = ${masterLogin}`,
  );
}

export type NewClosing = {
  readonly masterLogin: string;
  readonly masterId: bigint;
  readonly stepsLeft: bigint;
  readonly at: Date;
};

/** No effect when another request has begun to close the Master. */
export async function insertClosing(db: Queryable, { masterLogin, masterId, stepsLeft, at }: NewClosing) {
  await matchesRow(
    db,
    sql`insert into closing (master_login, master_id, state, requested_at, progressed_at, steps_left, next_try_at)
        values (${masterLogin}, ${masterId}, 'CLOSING', ${at}, ${at}, ${stepsLeft}, clock_timestamp())
        on conflict (master_login) do nothing`,
  );
}

export type ClaimedClosing = {
  readonly masterLogin: string;
  readonly requestedAt: Date;
  readonly afterInvestorId: bigint;
  readonly reason: string | null;
  readonly tries: number;
};

export const closingQueue = workQueue<ClaimedClosing, string>({
  table: fragment`closing`,
  key: fragment`master_login`,
  keyType: fragment`text`,
  isOpen: fragment`work.state = 'CLOSING'`,
  columns: fragment`master_login as "masterLogin", requested_at as "requestedAt", after_investor_id as "afterInvestorId", reason`,
});

export type Step = {
  readonly afterInvestorId: bigint;
  readonly stepsLeft: bigint;
  readonly reason: string | null;
  /** The longest pause before the next step; undefined: it follows at once. */
  readonly maxPauseMs: number | undefined;
};

/** Pauses double with each step without progress. No effect when another replica has claimed the closing meanwhile. */
export async function recordStep(
  db: Queryable,
  { masterLogin, tries }: Pick<ClaimedClosing, "masterLogin" | "tries">,
  { afterInvestorId, stepsLeft, reason, maxPauseMs }: Step,
  at: Date,
): Promise<void> {
  const failed = fragment`case when ${stepsLeft}::bigint < steps_left then 1 else tries end`;
  const next =
    maxPauseMs === undefined
      ? fragment`clock_timestamp()`
      : retryAt(fragment`${failed}`, fragment`${maxPauseMs}::integer`);
  await matchesRow(
    db,
    sql`update closing
        set after_investor_id = ${afterInvestorId}, steps_left = ${stepsLeft}, reason = ${reason},
            progressed_at = case when ${stepsLeft}::bigint < steps_left then ${at}::timestamptz else progressed_at end,
            tries = case when ${stepsLeft}::bigint < steps_left then 0 else tries end,
            next_try_at = ${next}
        where master_login = ${masterLogin} and tries = ${tries} and state = 'CLOSING'`,
  );
}

/** False when another replica has archived the Master. */
export async function markArchived(db: Queryable, masterLogin: string, at: Date): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update closing
        set state = 'ARCHIVED', archived_at = ${at}, progressed_at = ${at}, steps_left = 0, reason = null
        where master_login = ${masterLogin} and state = 'CLOSING'`,
  );
}

/** ACTIVE subscriptions of a Master, ascending by Investor. */
export async function listLeavers(
  db: Queryable,
  { masterLogin, afterInvestorId, limit }: { masterLogin: string; afterInvestorId: bigint; limit: number },
): Promise<Subscription[]> {
  return many<Subscription>(
    db,
    sql`select *
        from subscription_row
        where "masterLogin" = ${masterLogin} and status = 'ACTIVE' and "investorId" > ${afterInvestorId}
        order by "investorId"
        limit ${limit}`,
  );
}

/** An assignment is undecided as long as it has the account lock, and so few are that their index is read. */
export async function countLeft(db: Queryable, masterLogin: string): Promise<LeftInPool> {
  return await one<LeftInPool>(
    db,
    sql`select (select count(*) from subscription where master_login = ${masterLogin} and status = 'ACTIVE')
               + (select count(*)
                  from assignment join subscription on id = subscription_id
                  where lock_owner is not null and master_login = ${masterLogin} and status = 'ASSIGNING') as investors,
               (select count(*) from subscription where master_login = ${masterLogin} and status = 'PAUSED') as exits`,
  );
}

/** Why a Master without Investors cannot be archived yet; null when nothing is left. */
export async function findUnsettled(db: Queryable, masterLogin: string): Promise<string | null> {
  const row = await one<{ reason: string | null }>(
    db,
    sql`select case
          when exists (
            select from exit join subscription on id = subscription_id
            where lock_owner is not null and master_login = ${masterLogin}
          ) then 'exits_in_progress'
          when exists (select from master_result where master_login = ${masterLogin} and allocated_at is null)
            or exists (
              select from master_pool
              where login = ${masterLogin}
                and (own_waiting_minor > 0 or own_unredeemed_minor > 0 or received_number > filed_number)
            ) then 'allocation_in_progress'
          when exists (
            select from master_pool
            where login = ${masterLogin} and (external_minor <> 0 or own_pooled_minor <> 0)
              and external_minor is distinct from external_acknowledged_minor
          ) then 'own_capital'
        end as reason`,
  );
  return row.reason;
}
