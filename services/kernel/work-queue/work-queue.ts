import { execute, type Fragment, fragment, many, type Queryable, sql } from "../postgres/query.ts";
import { CLAIM_MS, FIRST_RETRY_MS, MAX_RETRY_MS } from "../jobs/retry.ts";

/** A table whose rows are work, with the columns `next_try_at`, `tries` and `reason`. In the conditions the row is `work`. */
export type WorkQueueOptions = {
  readonly table: Fragment;
  /** Column of the primary key, and its type. */
  readonly key: Fragment;
  readonly keyType: Fragment;
  /** Whether the row is unfinished work. */
  readonly isOpen: Fragment;
  /** Whether an open row may be worked on now, when more than its time decides. */
  readonly mayStart?: Fragment;
  /** What a claim changes besides; begins with a comma. */
  readonly alsoSet?: Fragment;
  /** Columns of a claimed row; `tries` is added. */
  readonly columns: Fragment;
  /** After this time another replica may take a row that a crashed replica has claimed; longer than an attempt. */
  readonly claimMs?: number;
};

/** A row that waits for its next try. */
export type Delay<Key> = {
  readonly id: Key;
  /** As it was claimed or read: the delay has no effect on a row that was claimed since. */
  readonly tries: number;
  /** For operators; undefined when no failure is the reason. */
  readonly reason: string | undefined;
  /** The longest pause. */
  readonly maxMs?: number;
};

export type WorkQueue<Row, Key extends bigint | string = bigint> = {
  /** Claims due rows, the longest due first: until the claim ends, no other replica works on them. */
  readonly claim: (db: Queryable, limit: number) => Promise<Row[]>;
  /** Schedules the next tries, after pauses that double with each try. */
  readonly retryLater: (db: Queryable, delays: readonly Delay<Key>[]) => Promise<void>;
  /** Subquery: the instant at which the next row is due; null without one. */
  readonly nextDue: Fragment;
};

/** Doublings after which every pause is the longest. */
const MAX_DOUBLINGS = 20;

/** The instant of the next try after so many failed ones, by the clock of the database, which all replicas share. */
export function retryAt(tries: Fragment, maxMs: Fragment | number = MAX_RETRY_MS): Fragment {
  return fragment`clock_timestamp() + least(
    ${maxMs}, ${FIRST_RETRY_MS} * power(2, least(greatest(${tries} - 1, 0), ${MAX_DOUBLINGS}))
  ) * interval '1 millisecond'`;
}

/** Work that is stored in a table: it survives a crash, each row is worked on by one replica, and failures wait longer and longer. */
export function workQueue<Row, Key extends bigint | string = bigint>(options: WorkQueueOptions): WorkQueue<Row, Key> {
  const { table, key, keyType, isOpen, mayStart = fragment`true`, alsoSet = fragment``, columns } = options;
  const claimMs = options.claimMs ?? CLAIM_MS;
  return {
    async claim(db, limit) {
      const claimed = await many<Row>(
        db,
        sql`update ${table}
            set next_try_at = clock_timestamp() + ${claimMs} * interval '1 millisecond', tries = tries + 1${alsoSet}
            where ${key} = any ((
              select array_agg(claimed.${key})
              from (
                select work.${key}
                from ${table} as work
                where ${isOpen} and work.next_try_at <= statement_timestamp() and ${mayStart}
                order by work.next_try_at, work.${key}
                limit ${limit}
                for no key update skip locked
              ) as claimed
            )::${keyType}[])
            returning ${columns}, tries`,
      );
      return claimed;
    },
    async retryLater(db, delays) {
      if (delays.length === 0) return;
      await execute(
        db,
        sql`update ${table} as work
            set next_try_at = ${retryAt(fragment`work.tries`, fragment`delay.max_ms`)}, reason = delay.reason
            from unnest(
              ${delays.map(({ id }) => id)}::${keyType}[],
              ${delays.map(({ tries }) => tries)}::integer[],
              ${delays.map(({ reason }) => reason)}::text[],
              ${delays.map(({ maxMs = MAX_RETRY_MS }) => maxMs)}::integer[]
            ) as delay (id, tries, reason, max_ms)
            where work.${key} = delay.id and work.tries = delay.tries and ${isOpen}`,
      );
    },
    nextDue: fragment`(
      select work.next_try_at from ${table} as work where ${isOpen} and ${mayStart} order by work.next_try_at limit 1
    )`,
  };
}
