import { DAY_MS } from "#kernel/duration.ts";
import { type Fragment, fragment, one, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Logins with a row of their own and holdings. */
export type LoginTable = {
  readonly name: string;
  readonly rows: Fragment;
  /** The login in a holding. */
  readonly ofHolding: Fragment;
  /** Logins that are examined together. */
  readonly pageSize: number;
};

/** Small pages, because all holdings of these Masters are read, and a pool may have ten thousand. */
export const MASTERS: LoginTable = {
  name: "master_pool",
  rows: fragment`master_pool`,
  ofHolding: fragment`master_login`,
  pageSize: 10,
};

/** As many as one request to platform may name. */
export const INVESTORS: LoginTable = {
  name: "investor_account",
  rows: fragment`investor_account`,
  ofHolding: fragment`investor_login`,
  pageSize: 1_000,
};

/** Where the walk through a table is between two runs. */
export type Position = {
  /** What transactions wrote before this one was examined; 0 before the first run. */
  readonly since: bigint;
  /** The end of a list of changed logins that a run did not reach, and the last login it examined; empty without one. */
  readonly until: bigint;
  readonly after: string;
  /** The current pass through all logins has examined those up to this one. */
  readonly passedTo: string;
  readonly hasPassed: boolean;
};

const AT_THE_START: Position = { since: 0n, until: 0n, after: "", passedTo: "", hasPassed: false };

export type Selected = {
  /** Ascending, as the slice. */
  readonly changed: readonly string[];
  /** The first transaction that had not ended. What it and later ones write is new to the next run. */
  readonly horizon: bigint;
  /** The next logins of the pass through all: a day's share, at least a page. */
  readonly slice: readonly string[];
  readonly endsPass: boolean;
};

/**
 * What a run examines. A login has changed when its row or one of its holdings was written by a transaction that had not ended for the
 * last run. The row names that transaction itself (xmin), whatever wrote it: no statement that moves money has to note it, and
 * a row that was written by hand is found too. After 2^32
 * transactions numbers repeat: a login is then examined once without need.
 */
export async function selectLogins(
  db: Queryable,
  { name, rows, ofHolding, pageSize }: LoginTable,
  { since, after, passedTo, hasPassed }: Position,
  everyMs: number,
): Promise<Selected> {
  const isNew = fragment`age(xmin) between 0 and (select age((${since}::bigint % 4294967296)::text::xid))`;
  return await one<Selected>(
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
        ), changed as (
          select login from ${rows} where ${isNew}
          union
          select ${ofHolding} from holding where ${isNew}
        )
        select array(select login from changed where ${since}::bigint > 0 and login > ${after} order by login) as changed,
               pg_snapshot_xmin(pg_current_snapshot())::text::bigint as horizon,
               array(select login from slice order by login) as slice,
               (select count(*) from slice) < (select logins from size) as "endsPass"`,
  );
}

/** The position after a run that has examined the slice, and the first `examined` of the changed logins. */
export function positionAfter(
  at: Position,
  { changed, horizon, slice, endsPass }: Selected,
  examined: number,
): Position {
  const until = at.after === "" ? horizon : at.until;
  const last = changed[examined - 1] ?? at.after;
  const ends = examined >= changed.length;
  return {
    since: ends ? until : at.since,
    until: ends ? 0n : until,
    after: ends ? "" : last,
    passedTo: slice.at(-1) ?? at.passedTo,
    hasPassed: endsPass,
  };
}

type Positions = { readonly masters: Position; readonly investors: Position };

/** As the cursor of the check. A pass ends when both lists are read; the one that ends first waits for the other. */
export function written({ masters, investors }: Positions, endsPass: boolean): string {
  const begun = (at: Position) => (endsPass ? { ...at, passedTo: "", hasPassed: false } : at);
  const positions = { masters: begun(masters), investors: begun(investors) };
  return JSON.stringify(positions, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}

type Written = { readonly [Member in keyof Position]: Position[Member] extends bigint ? string : Position[Member] };

export function positionsOf(cursor: string): Positions {
  const stored = cursor.startsWith("{") ? (JSON.parse(cursor) as Partial<Record<keyof Positions, Written>>) : {};
  const read = (at: Written | undefined): Position =>
    at === undefined ? AT_THE_START : { ...at, since: BigInt(at.since), until: BigInt(at.until) };
  return { masters: read(stored.masters), investors: read(stored.investors) };
}
