import { fragment, type Fragment, many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Obstacle } from "../domain/account-obstacles.ts";
import { LAST_LEG_NUMBER, legNumber, type LegNumber } from "../domain/leg-number.ts";
import { IS_OUTCOME_OPEN } from "./account-locks.ts";
import { NEXT_LEG_NUMBER, PERMITTED_HERE } from "./database-identity.ts";
import type { RecordedLeg } from "./leg-row.ts";

/** Of a leg: it was sent, and its outcome is not known or not accepted. At most one of each login, and it ends before another one is sent. */
const IS_UNDER_WAY = fragment`(state in ('SENDING', 'UNKNOWN') or came_from in ('SENDING', 'UNKNOWN'))`;

/** Of a leg with its transfer and its account: the account lock admits it. */
const IS_ADMITTED = fragment`(
    locked_by is null or lock_owner = locked_by or (lock_granted_at is null and leg.number < lock_number)
  )`;

/** The queue position of a leg on its login: legs before it are sent first. */
export type QueuePosition = {
  readonly login: string;
  /** Undefined before the leg is recorded: then every recorded leg is before it. */
  readonly number?: bigint;
  /** Only legs of this account lock, and those before it, are in the queue; undefined without an account lock. */
  readonly accountLock: { readonly lockOwner: string; readonly admitsBefore: bigint } | undefined;
};

/** The leg that has to end first, by login: one that is under way, or an earlier one that could be sent now. */
function obstaclesOf(positions: readonly QueuePosition[]): Fragment {
  return fragment`
    select position.login, obstacle.number, obstacle.is_outcome_open
    from unnest(
      ${positions.map(({ login }) => login)}::text[],
      ${positions.map(({ number }) => number ?? LAST_LEG_NUMBER + 1n)}::bigint[],
      ${positions.map(({ accountLock }) => accountLock?.lockOwner)}::text[],
      ${positions.map(({ accountLock }) => accountLock?.admitsBefore)}::bigint[]
    ) as position (login, number, locked_by, admits_before)
    cross join lateral (
      select number, is_outcome_open
      from (
        select number, ${IS_OUTCOME_OPEN} as is_outcome_open
        from leg
        where login = position.login and is_exclusive and number <> position.number and ${IS_UNDER_WAY}
        union all
        select leg.number, false
        from leg
        join transfer on transfer.id = transfer_id
        where login = position.login and is_exclusive and is_ready and state = 'INTENT'
          and leg.number < position.number and next_scan_at <= clock_timestamp()
          and (attempt > 0 or send_before is null or send_before > clock_timestamp())
          and (position.locked_by is null or lock_owner = position.locked_by or leg.number < position.admits_before)
      ) as before
      order by number
      limit 1
    ) as obstacle`;
}

/** What decides about permits besides the locked accounts. */
export type QueueState = {
  /** The leg that has to end before each position, by login. */
  readonly obstacles: ReadonlyMap<string, Obstacle>;
  /** For legs that are recorded next. */
  readonly numbers: readonly LegNumber[];
  /** Whether permits are granted in the database of the connection: a process may not know yet that another one has taken its place. */
  readonly isGateOpen: boolean;
  /** Of the permits: amounts of an earlier one are outdated. */
  readonly generation: bigint;
};

type QueueRow =
  | { what: "obstacle"; login: string; number: bigint; flag: boolean }
  | { what: "number" | "gate"; login: null; number: bigint; flag: boolean };

/**
 * At most one position of each login. Draws the numbers of new legs too: while their accounts are locked, so that numbers are in the order of
 * the queues.
 */
export async function readQueues(
  tx: Transaction,
  { positions, newLegs }: { readonly positions: readonly QueuePosition[]; readonly newLegs: number },
): Promise<QueueState> {
  const rows = await many<QueueRow>(
    tx,
    sql`select 'gate' as what, null as login, generation as number, ${PERMITTED_HERE} is not null as flag from permit_gate
        union all
        select 'obstacle', login, number, is_outcome_open from (${obstaclesOf(positions)}) as obstacle
        union all
        select 'number', null, ${NEXT_LEG_NUMBER}, false from generate_series(1, ${newLegs}::integer) as leg`,
  );
  const obstacles = rows.flatMap(({ what, login, number, flag: isOutcomeOpen }) =>
    what === "obstacle" ? [[login, { number: legNumber(number), isOutcomeOpen }] as const] : [],
  );
  const gate = rows.find(({ what }) => what === "gate");
  return {
    obstacles: new Map(obstacles),
    numbers: rows.flatMap(({ what, number }) => (what === "number" ? legNumber(number) : [])),
    isGateOpen: gate?.flag === true,
    generation: gate?.number ?? 0n,
  };
}

/** Of a leg with its transfer: no permit may be granted any more before its first attempt. */
const IS_LATE = fragment`(ordinal = 1 and coalesce(send_before <= statement_timestamp(), false))`;

/** Of a leg that waits for a permit, with its transfer and its account: it gets one, or ends. Otherwise operators decide, or the account is read or restored first. */
const MAY_BEGIN = fragment`(
    not may_lack_deals and ((stopped_reason is null and archived_at is null) or ordinal > 1 or ${IS_LATE})
  )`;

const OF_WAITING = fragment`
    from leg
    join transfer on transfer.id = transfer_id
    join account on account.login = leg.login
    where state = 'INTENT' and is_ready and ${MAY_BEGIN}`;

/** The instant from which a leg waits for a permit; null without one. */
export const nextWaiting = fragment`(select min(next_scan_at) ${OF_WAITING})`;

/** A recorded leg that waits for a permit. */
export type WaitingLeg = Pick<RecordedLeg, "number" | "login"> & { readonly kind: RecordedLeg["status"]["kind"] };

/**
 * Waiting legs whose turn it is, as a statement without locks sees it, of these logins or of all: the first that each account lock admits,
 * and each that occupies no login. A leg that is late ends without its turn.
 */
export async function listNext(
  db: Queryable,
  { logins, limit }: { readonly logins?: readonly string[]; readonly limit: number },
): Promise<WaitingLeg[]> {
  const ofLogins = logins === undefined ? fragment`true` : fragment`leg.login = any (${logins}::text[])`;
  return await many<WaitingLeg>(
    db,
    sql`select number, login, kind
        from (
          select distinct on (leg.login, case when is_exclusive then 0 else leg.number end)
                 leg.number, leg.login, leg.kind, is_exclusive, ${IS_LATE} as is_late
          ${OF_WAITING} and next_scan_at <= statement_timestamp()
            and ${ofLogins}
            and (not is_exclusive or ${IS_LATE} or (${IS_ADMITTED} and coalesce(reading_until <= clock_timestamp(), true)))
          order by leg.login, case when is_exclusive then 0 else leg.number end, leg.number
        ) as head
        where not is_exclusive or is_late
          or not exists (select from leg where leg.login = head.login and leg.is_exclusive and ${IS_UNDER_WAY})
        order by number
        limit ${limit}`,
  );
}

/** A leg that could be sent now and that an earlier read of facts has delayed: the next read waits for it. */
export async function findDelayedByReading(db: Queryable, login: string): Promise<LegNumber | undefined> {
  const row = await maybeOne<{ number: bigint }>(
    db,
    sql`select leg.number
        from account
        join leg on leg.login = account.login
        join transfer on transfer.id = transfer_id
        where account.login = ${login} and is_exclusive and is_ready and state = 'INTENT'
          and next_scan_at <= statement_timestamp() and greatest(leg.changed_at, next_scan_at) < read_at
          and (attempt > 0 or send_before is null or send_before > clock_timestamp())
          and ${IS_ADMITTED}
          and not exists (select from leg where leg.login = account.login and leg.is_exclusive and ${IS_UNDER_WAY})
        order by leg.number
        limit 1`,
  );
  return row && legNumber(row.number);
}
