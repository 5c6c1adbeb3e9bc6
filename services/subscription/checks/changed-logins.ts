import { DAY_MS } from "#kernel/duration.ts";
import { writtenPositions } from "#kernel/reconcile/walk.ts";
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
  /** When changes are searched again, in milliseconds since 1970 by the clock of the database. */
  readonly searchAtMs: bigint;
  /** The current pass through all logins has examined those up to this one. */
  readonly passedTo: string;
  readonly hasPassed: boolean;
};

const AT_THE_START: Position = { since: 0n, until: 0n, after: "", searchAtMs: 0n, passedTo: "", hasPassed: false };

/** Rows that are searched in each run on average: a search reads whole tables, so larger ones are searched less often. */
const SEARCHED_ROWS = 200_000;

export type Selected = {
  /** Ascending, as the slice. */
  readonly changed: readonly string[];
  /** The first transaction that had not ended. What it and later ones write is new to the next search. */
  readonly horizon: bigint;
  /** False when the next search is not due. */
  readonly isSearched: boolean;
  /** When the next search is due, after this one. */
  readonly nextSearchAtMs: bigint;
  /** The next logins of the pass through all: a day's share, at least a page. */
  readonly slice: readonly string[];
  readonly endsPass: boolean;
};

/**
 * What a run examines. A login has changed when its row or one of its holdings was written by a transaction that had not ended for the
 * last search. The row names that transaction itself (xmin), whatever wrote it: no statement that moves money has to note it, and
 * a row that was written by hand is found too. After 2^32 transactions numbers repeat: a login is then examined once without need.
 */
export async function selectLogins(
  db: Queryable,
  { name, rows, ofHolding, pageSize }: LoginTable,
  { since, after, searchAtMs, passedTo, hasPassed }: Position,
  everyMs: number,
): Promise<Selected> {
  const nowMs = fragment`(extract(epoch from statement_timestamp()) * 1000)::bigint`;
  const nextAtMs = fragment`(
    select ${nowMs} + (greatest(rows / ${SEARCHED_ROWS} - 1, 0) * ${everyMs})::bigint from size
  )`;
  // Also when it was postponed by a clock that was ahead.
  const isSearched = fragment`(${searchAtMs}::bigint <= ${nowMs} or ${searchAtMs}::bigint > ${nextAtMs})`;
  const isNew = fragment`age(xmin) between 0 and (select age((${since}::bigint % 4294967296)::text::xid))`;
  return await one<Selected>(
    db,
    sql`with size as (
          select greatest(ceil(reltuples * ${everyMs} / ${DAY_MS}), ${pageSize})::bigint as logins,
                 reltuples + (select greatest(reltuples, 0) from pg_class where oid = 'holding'::regclass) as rows
          from pg_class
          where oid = ${name}::regclass
        ), slice as (
          select login
          from ${rows}
          where login > ${passedTo} and not ${hasPassed}
          order by login
          limit (select logins from size)
        ), changed as (
          select login from ${rows} where ${isSearched} and ${isNew}
          union
          select ${ofHolding} from holding where ${isSearched} and ${isNew}
        )
        select array(select login from changed where ${since}::bigint > 0 and login > ${after} order by login) as changed,
               pg_snapshot_xmin(pg_current_snapshot())::text::bigint as horizon,
               ${isSearched} as "isSearched",
               ${nextAtMs} as "nextSearchAtMs",
               array(select login from slice order by login) as slice,
               (select count(*) from slice) < (select logins from size) as "endsPass"`,
  );
}

/** The position after a run that has examined the slice, and the first `examined` of the changed logins. */
export function positionAfter(at: Position, selected: Selected, examined: number): Position {
  const { changed, horizon, isSearched, nextSearchAtMs, slice, endsPass } = selected;
  const passed = { passedTo: slice.at(-1) ?? at.passedTo, hasPassed: endsPass };
  if (!isSearched) return { ...at, ...passed };
  const until = at.after === "" ? horizon : at.until;
  const last = changed[examined - 1] ?? at.after;
  return examined >= changed.length
    ? { since: until, until: 0n, after: "", searchAtMs: nextSearchAtMs, ...passed }
    : { since: at.since, until, after: last, searchAtMs: 0n, ...passed };
}

type Positions = { readonly masters: Position; readonly investors: Position };

/** As the cursor of the check. A pass ends when both lists are read; the one that ends first waits for the other. */
export function written({ masters, investors }: Positions, endsPass: boolean): string {
  const begun = (at: Position) => (endsPass ? { ...at, passedTo: "", hasPassed: false } : at);
  return writtenPositions({ masters: begun(masters), investors: begun(investors) });
}

type Written = { readonly [Member in keyof Position]: Position[Member] extends bigint ? string : Position[Member] };

export function positionsOf(cursor: string): Positions {
  const stored = cursor.startsWith("{") ? (JSON.parse(cursor) as Partial<Record<keyof Positions, Written>>) : {};
  const read = (at: Written | undefined): Position =>
    at === undefined
      ? AT_THE_START
      : { ...at, since: BigInt(at.since), until: BigInt(at.until), searchAtMs: BigInt(at.searchAtMs) };
  return { masters: read(stored.masters), investors: read(stored.investors) };
}
