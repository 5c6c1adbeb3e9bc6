import assert from "node:assert/strict";
import { column, fragment, many, type Queryable, sql, type Statement } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { isUnderWay } from "../domain/leg.ts";
import { type RecordedLeg, type StatusRow, withStatus } from "./leg-row.ts";

type LegRow = Omit<RecordedLeg, "status"> & StatusRow;

const COLUMNS = fragment`
         number, transfer_id as "transferId", ordinal, login, kind, requested_minor as "requestedMinor", amount_minor as "amountMinor",
         is_ready as "isReady", state, came_from as "cameFrom", refusal, platform_code as "platformCode", review, attempt, absences,
         deal_id as "dealId", applied_at as "appliedAt", created_at as "createdAt", changed_at as "changedAt", key,
         lock_owner as "lockOwner", leg_count as "legCount", comment, is_enqueued as "isEnqueued", releases_lock as "releasesLock",
         request_id as "requestId", is_late as "isLate", is_early as "isEarly", is_outdated as "isOutdated"`;

const LEGS = fragment`
  select ${COLUMNS}
  from recorded_leg`;

async function readLegs(db: Queryable, statement: Statement): Promise<RecordedLeg[]> {
  return (await many<LegRow>(db, statement)).map((row) => withStatus(row));
}

/** Locks a leg. Callers lock its account first, always in this order. */
export async function lockLeg(tx: Transaction, number: LegNumber): Promise<RecordedLeg> {
  const [leg] = await lockLegs(tx, [number]);
  assert(leg !== undefined, "a leg that is locked was recorded");
  return leg;
}

export async function findLeg(db: Queryable, number: bigint): Promise<RecordedLeg | undefined> {
  return (await listLegsByNumber(db, [number]))[0];
}

/** The leg that was applied by the deal. */
export async function findLegByDeal(db: Queryable, server: string, dealId: bigint): Promise<RecordedLeg | undefined> {
  return (await readLegs(db, sql`${LEGS} where server = ${server} and deal_id = ${dealId}`))[0];
}

/** The legs of the transfers that are recorded under these keys, by key; those of each in the order of execution. */
export async function listLegsByKey(
  db: Queryable,
  keys: readonly string[],
): Promise<ReadonlyMap<string, RecordedLeg[]>> {
  if (keys.length === 0) return new Map();
  const selected = sql`${LEGS} where key = any (${keys}::text[]) order by transfer_id, ordinal`;
  return Map.groupBy(await readLegs(db, selected), ({ key }) => key);
}

/** The legs of a transfer, in the order of execution. */
export async function listLegs(db: Queryable, transferId: bigint): Promise<RecordedLeg[]> {
  return (await listLegsOf(db, [transferId])).get(transferId) ?? [];
}

/** The legs of several transfers; the legs of each transfer are in the order of execution. */
export async function listLegsOf(
  db: Queryable,
  transferIds: readonly bigint[],
): Promise<ReadonlyMap<bigint, RecordedLeg[]>> {
  const selected = sql`${LEGS} where transfer_id = any (${transferIds}::bigint[]) order by transfer_id, ordinal`;
  return Map.groupBy(await readLegs(db, selected), ({ transferId }) => transferId);
}

/** Legs of a login with a permit and an unknown outcome. */
export async function listUnderWay(db: Queryable, login: string): Promise<RecordedLeg[]> {
  return await readLegs(
    db,
    sql`${LEGS} where login = ${login}
          and state in ('SENDING', 'UNKNOWN', 'REVIEW')
          and coalesce(came_from, state) in ('SENDING', 'UNKNOWN')
        order by number`,
  );
}

/** A deal of a login, and the number of the leg that its comment names. */
export type DealQuestion = { readonly ticket: bigint; readonly login: string; readonly number: bigint | undefined };

export type LegsOfDeal = {
  readonly byTicket: RecordedLeg | undefined;
  readonly byNumber: RecordedLeg | undefined;
  readonly underWay: readonly RecordedLeg[];
};

/**
 * The legs that may explain each deal, in the order of the deals: the one that has its ticket, the one with this number, and
 * those under way on its login.
 */
export async function listLegsOfDeals(
  db: Queryable,
  server: string,
  deals: readonly DealQuestion[],
): Promise<LegsOfDeal[]> {
  if (deals.length === 0) return [];
  const rows = await many<LegRow & { server: string | null }>(
    db,
    sql`select ${COLUMNS}, server
        from recorded_leg
        where number = any ((
          select array_agg(number)
          from (
            select number
            from leg
            where server = ${server} and deal_id = any (${deals.map(({ ticket }) => ticket)}::bigint[])
            union
            select number
            from leg
            where login = any (${deals.map(({ login }) => login)}::text[]) and state in ('SENDING', 'UNKNOWN', 'REVIEW')
            union
            select named from unnest(${deals.map(({ number }) => number)}::bigint[]) as deal (named)
          ) as known
        )::bigint[])
        order by number`,
  );
  const legs = rows.map((row) => withStatus(row));
  const byTicket = new Map(legs.flatMap((leg, index) => (rows[index]?.server === server ? [[leg.dealId, leg]] : [])));
  const byNumber = new Map<bigint, RecordedLeg>(legs.map((leg) => [leg.number, leg]));
  const underWay = Map.groupBy(
    legs.filter(({ status }) => isUnderWay(status)),
    ({ login }) => login,
  );
  return deals.map(({ ticket, login, number }) => ({
    byTicket: byTicket.get(ticket),
    byNumber: number === undefined ? undefined : byNumber.get(number),
    underWay: underWay.get(login) ?? [],
  }));
}

/** Locks several legs, in the order of their numbers. */
export async function lockLegs(tx: Transaction, numbers: readonly bigint[]): Promise<RecordedLeg[]> {
  if (numbers.length === 0) return [];
  return await readLegs(tx, sql`${LEGS} where number = any (${numbers}::bigint[]) order by number for no key update`);
}

export async function listLegsByNumber(db: Queryable, numbers: readonly bigint[]): Promise<RecordedLeg[]> {
  if (numbers.length === 0) return [];
  return await readLegs(db, sql`${LEGS} where number = any (${numbers}::bigint[]) order by number`);
}

/** Longer than a deal may take to appear; a deal that is still missing then is reported as deleted and delays no read. */
const BACK_MINUTES = 10;

/**
 * Those of the logins that have a leg that was applied before this instant and whose deal is in no log yet, because no read has
 * shown it, and those of Masters with a leg that was sent before and has no known outcome: its deal may appear now. Compares times of the database as well: `applied_at` may come from another clock. A subquery: without statistics a join
 * would read all legs.
 */
export async function listUnreadBefore(
  db: Queryable,
  logins: readonly string[],
  before: Date,
): Promise<ReadonlySet<string>> {
  if (logins.length === 0) return new Set();
  const unread = await column<string>(
    db,
    sql`select login
        from unlogged_leg
        where login = any (${logins}::text[])
          and (
            select number
            from leg
            where number = leg_number and state = 'APPLIED' and changed_at < ${before}::timestamptz
              and changed_at > ${before}::timestamptz - ${BACK_MINUTES} * interval '1 minute'
              and applied_at > ${before}::timestamptz - ${BACK_MINUTES} * interval '1 minute'
          ) is not null
        union
        select login
        from leg
        where login = any (${logins}::text[]) and state in ('SENDING', 'UNKNOWN')
          and (select role from account where account.login = leg.login) = 'master'
          and (
            select leg_number
            from attempt
            where leg_number = leg.number and number = leg.attempt and granted_at < ${before}::timestamptz
              and granted_at > ${before}::timestamptz - ${BACK_MINUTES} * interval '1 minute'
          ) is not null`,
  );
  return new Set(unread);
}
