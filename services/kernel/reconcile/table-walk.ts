import { DAY_MS, SECOND_MS } from "../values/duration.ts";
import { type Fragment, fragment, one, type Queryable, sql } from "../postgres/query.ts";

/** A table whose ids are drawn from a sequence. Rows are committed in any order, so a higher id may be visible before a lower one. */
export type Table = {
  readonly name: string;
  readonly rows: Fragment;
  readonly id: Fragment;
  /** Rows that are examined together, for a table with other rows behind each. */
  readonly pageRows?: number;
};

/** Where the walk through a table is between two runs. */
export type TableCursor = {
  /** Every row up to this id was examined, and no lower one can appear any more. */
  readonly settledTo: bigint;
  /** The newest id that a run has examined, and when, in ms: it is settled after SETTLED_MS. */
  readonly newest: bigint;
  readonly newestAtMs: bigint;
  /** Examined rows that may still change. They are examined in every run. */
  readonly open: readonly bigint[];
  /** The current pass through all rows has examined the rows up to this id. */
  readonly passedTo: bigint;
  readonly hasPassed: boolean;
};

/** Within a run. */
export type Progress = Pick<TableCursor, "open" | "passedTo" | "hasPassed"> & {
  readonly examinedTo: bigint;
  /** Rows are left that this run has not examined as new ones. */
  readonly leavesNewRows: boolean;
  readonly nowMs: bigint;
};

/** Ids after `after`, up to and including `to`. */
type Range = { readonly after: bigint; readonly to: bigint };

/** The rows that are examined together. */
export type Page = {
  readonly table: Table;
  readonly fresh: Range;
  readonly hasMore: boolean;
  readonly older: Range;
  /** This page ends the pass through all rows. */
  readonly endsPass: boolean;
  readonly nowMs: bigint;
};

export const AT_THE_START: TableCursor = {
  settledTo: 0n,
  newest: 0n,
  newestAtMs: 0n,
  open: [],
  passedTo: 0n,
  hasPassed: false,
};

/**
 * Every transaction that had drawn a lower id than one that a run has seen has ended after this time: the time-outs of the pool end ours
 * within seconds. It is shorter than the interval of the checks, so that a run examines only its own new rows and those of the run before.
 */
const SETTLED_MS = 40n * BigInt(SECOND_MS);
/** New rows of one page: a set that a statement examines within its time limit. */
const PAGE_ROWS = 5_000;
/** Older rows of one run, at least; at most a page. A pass takes up to a day or, above seven million rows, longer. */
const MIN_SLICE_ROWS = 500;
/** Rows that may still change. New rows wait while there are more of them. */
export const MAX_OPEN_ROWS = 20_000;

type Extent = {
  readonly freshTo: bigint;
  readonly hasMore: boolean;
  readonly olderTo: bigint;
  readonly isPassOver: boolean;
  readonly nowMs: bigint;
};

export function beginRun({ settledTo, open, passedTo, hasPassed }: TableCursor): Progress {
  return { examinedTo: settledTo, open, passedTo, hasPassed, leavesNewRows: false, nowMs: 0n };
}

/** The next page, on the snapshot of the run: new rows, and behind the last of them a slice of the pass through all rows. */
export async function nextPage(db: Queryable, table: Table, at: Progress, everyMs: number): Promise<Page> {
  const { examinedTo, passedTo, hasPassed } = at;
  const { name, rows, id, pageRows = PAGE_ROWS } = table;
  const { freshTo, hasMore, olderTo, isPassOver, nowMs } = await one<Extent>(
    db,
    sql`with fresh as (
          select ${id} as id from ${rows} where ${id} > ${examinedTo} order by ${id} limit ${pageRows}
        ), size as (
          select least(greatest(ceil(reltuples * ${everyMs} / ${DAY_MS}), ${MIN_SLICE_ROWS}), ${pageRows})::bigint as rows
          from pg_class
          where oid = ${name}::regclass
        ), older as (
          select ${id} as id from ${rows}
          where ${id} > ${passedTo} and not ${hasPassed}
            and (select count(*) from fresh) < ${pageRows}
          order by ${id}
          limit (select rows from size)
        )
        select coalesce((select max(id) from fresh), ${examinedTo}) as "freshTo", (select count(*) from fresh) = ${pageRows} as "hasMore",
               coalesce((select max(id) from older), ${passedTo}) as "olderTo",
               (select count(*) from fresh) < ${pageRows} and (select count(*) < (select rows from size) from older) as "isPassOver",
               (extract(epoch from clock_timestamp()) * 1000)::bigint as "nowMs"`,
  );
  return {
    table,
    fresh: { after: examinedTo, to: freshTo },
    hasMore,
    older: { after: passedTo, to: olderTo },
    endsPass: isPassOver,
    nowMs,
  };
}

/** Subquery: the ids of the page and these others. */
export function selectIds({ table, fresh, older }: Page, others: readonly bigint[]): Fragment {
  const { rows, id } = table;
  const within = ({ after, to }: Range) =>
    fragment`select ${id} as id from ${rows} where ${id} > ${after} and ${id} <= ${to}`;
  return fragment`(${within(fresh)} union ${within(older)} union select unnest(${others}::bigint[]))`;
}

/**
 * After a page. `open` are its rows that may still change, ascending, and one more than the maximum where there
 * are more: new rows beyond it are examined once there are fewer.
 */
export function progressAfter({ fresh, hasMore, older, endsPass, nowMs }: Page, open: readonly bigint[]): Progress {
  const [last = 0n, next] = open.slice(MAX_OPEN_ROWS - 1);
  const examinedTo = next === undefined || last >= fresh.to ? fresh.to : max(fresh.after, last);
  const leavesNewRows = hasMore || examinedTo < fresh.to;
  return {
    examinedTo,
    leavesNewRows,
    open: open.slice(0, MAX_OPEN_ROWS),
    passedTo: older.to,
    hasPassed: endsPass,
    nowMs,
  };
}

/** After a run. Rows that are not settled yet are examined again by the next one, with those that appear among them. */
export function cursorAfter(
  { settledTo, newest, newestAtMs }: TableCursor,
  { examinedTo, nowMs, open, passedTo, hasPassed }: Progress,
): TableCursor {
  const walk = { open, passedTo, hasPassed };
  if (nowMs < newestAtMs + SETTLED_MS) return { ...walk, settledTo, newest, newestAtMs };
  return { ...walk, settledTo: min(newest, examinedTo), newest: examinedTo, newestAtMs: nowMs };
}

function max(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}

function min(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}
