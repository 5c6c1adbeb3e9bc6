import { DAY_MS } from "#kernel/values/duration.ts";
import { column, type Fragment, fragment, one, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Logins that are examined together with what was written of them. */
export type LoginTable = {
  /** The table with each login once. */
  readonly name: string;
  readonly rows: Fragment;
  /** The login that each row of the searched tables concerns, and the transaction that wrote the row. */
  readonly written: Fragment;
  /** Logins that are examined together. */
  readonly pageSize: number;
};

/** As many as one request to platform may name. */
const INVESTORS_OF_A_PAGE = 1_000;
const OF_INVESTORS = fragment`
  select login, xmin as writer from investor_account union all select investor_login, xmin from holding`;

/** Small pages, because all holdings of these Masters are read, and a pool may have ten thousand. */
export const MASTERS: LoginTable = {
  name: "master_pool",
  rows: fragment`master_pool`,
  written: fragment`select login, xmin as writer from master_pool union all select master_login, xmin from holding`,
  pageSize: 10,
};

export const INVESTORS: LoginTable = {
  name: "investor_account",
  rows: fragment`investor_account`,
  written: OF_INVESTORS,
  pageSize: INVESTORS_OF_A_PAGE,
};

/** Investors with their subscriptions. */
export const SUBSCRIBERS: LoginTable = {
  ...INVESTORS,
  written: fragment`${OF_INVESTORS} union all select investor_login, xmin from subscription`,
};

/** Where a check is between two runs: in what has changed, and in the pass through all logins. */
export type LoginCursor = {
  /** What this transaction and later ones wrote has changed; 0 before the first run. */
  readonly since: bigint;
  /** The same of what changes meanwhile: the first transaction that had not ended when the changes were looked for; 0 once all are examined. */
  readonly until: bigint;
  /** The changed logins up to this one are examined. */
  readonly examinedTo: string;
  /** The current pass through all logins has examined those up to this one. */
  readonly passedTo: string;
  readonly hasPassed: boolean;
};

export const AT_THE_START: LoginCursor = { since: 0n, until: 0n, examinedTo: "", passedTo: "", hasPassed: false };

export type Slice = {
  /** The first transaction that has not ended: what it and later ones write is new to a later search. */
  readonly horizon: bigint;
  /** The next logins of the pass through all, ascending: a day's share, at least a page. */
  readonly logins: readonly string[];
  readonly endsPass: boolean;
};

export async function nextSlice(
  db: Queryable,
  { name, rows, pageSize }: LoginTable,
  { passedTo, hasPassed }: LoginCursor,
  everyMs: number,
): Promise<Slice> {
  return await one<Slice>(
    db,
    sql`with size as (
          select greatest(ceil(reltuples * ${everyMs} / ${DAY_MS}), ${pageSize})::bigint as logins
          from pg_class
          where oid = ${name}::regclass
        ), slice as (
          select login
          from ${rows}
          where login > ${passedTo} and not ${hasPassed}
          order by login
          limit (select logins from size)
        )
        select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as horizon,
               array(select login from slice order by login) as logins,
               (select count(*) from slice) < (select logins from size) as "endsPass"`,
  );
}

/**
 * The next changed logins, ascending. A login has changed when a row of it was written by a transaction that had not ended when changes were
 * looked for last. The row names that transaction itself (xmin), whatever wrote it: no statement that moves money has to note it, and a row that was
 * written by hand is found too. After 2^32 transactions numbers repeat: a login is then examined once without need.
 */
export async function listChanged(
  db: Queryable,
  { written }: LoginTable,
  { since, examinedTo }: LoginCursor,
): Promise<string[]> {
  // Before the first search nothing is known to be new: the pass examines all.
  if (since === 0n) return [];
  return await column<string>(
    db,
    sql`select distinct login
        from (${written}) as written
        where login > ${examinedTo} and age(writer) between 0 and (select age((${since}::bigint % 4294967296)::text::xid))
        order by login`,
  );
}
