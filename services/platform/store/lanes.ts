import { execute, maybeOne, one, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

export async function isReleased(db: Queryable, holder: string): Promise<boolean> {
  const row = await maybeOne(db, sql`select from lane_tombstone where holder = ${holder}`);
  return row !== undefined;
}

/** From now on later operations wait. The number is taken from theirs, so that "later" is one order. */
export async function claimLane(tx: Transaction, login: string, holder: string): Promise<void> {
  await one(
    tx,
    sql`update account
        set lane_holder = ${holder}, lane_number = nextval('operation_number'), lane_granted_at = null
        where login = ${login} and lane_holder is null
        returning login`,
  );
}

export async function grantLane(tx: Transaction, login: string, holder: string): Promise<void> {
  await one(
    tx,
    sql`update account
        set lane_granted_at = coalesce(lane_granted_at, clock_timestamp())
        where login = ${login} and lane_holder = ${holder}
        returning login`,
  );
}

/** Only what was never granted: nobody was told that he has it. */
export async function withdrawClaim(db: Queryable, login: string, holder: string): Promise<void> {
  await execute(
    db,
    sql`update account
        set lane_holder = null, lane_number = null
        where login = ${login} and lane_holder = ${holder} and lane_granted_at is null`,
  );
}

export async function releaseLane(tx: Transaction, login: string, holder: string): Promise<void> {
  await execute(
    tx,
    sql`insert into lane_tombstone (holder, login) values (${holder}, ${login}) on conflict (holder) do nothing`,
  );
  await execute(
    tx,
    sql`update account
        set lane_holder = null, lane_number = null, lane_granted_at = null
        where login = ${login} and lane_holder = ${holder}`,
  );
}
