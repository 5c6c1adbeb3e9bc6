import { DAY_MS } from "../duration.ts";
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
export type Position = {
  /** Every row up to this id was examined when it was new. */
  readonly examinedTo: bigint;
  /** The newest id that the last run saw, and the first transaction id that was not in use after that. */
  readonly newest: bigint;
  readonly horizon: bigint;
  /** Examined rows that may still change. They are examined in every run. */
  readonly open: readonly bigint[];
  /** The current pass through all rows has examined the rows up to this id. */
  readonly passedTo: bigint;
  readonly hasPassed: boolean;
};

/** Ids after `after`, up to and including `to`. */
type Range = { readonly after: bigint; readonly to: bigint };

/** The rows that are examined together. */
export type Page = {
  readonly table: Table;
  readonly fresh: Range;
  readonly older: Range;
  readonly newest: bigint;
  /** This page ends the pass through all rows. */
  readonly endsPass: boolean;
  /** New rows up to this id are settled; more than are in this page when it is above. */
  readonly settledTo: bigint;
  /** No transaction is left that was in progress when the newest id of the position was read. */
  readonly isSettled: boolean;
};

export const AT_THE_START: Position = {
  examinedTo: 0n,
  newest: 0n,
  horizon: 0n,
  open: [],
  passedTo: 0n,
  hasPassed: false,
};

/** New rows of one page: a set that a statement examines within its time limit. */
const PAGE_ROWS = 5_000;
/** Older rows of one run, at least; at most a page. A pass takes up to a day or, above seven million rows, longer. */
const MIN_SLICE_ROWS = 500;
/** Rows that may still change. New rows wait while there are more of them. */
export const MAX_OPEN_ROWS = 20_000;

type Extent = {
  readonly freshTo: bigint;
  readonly settledTo: bigint;
  readonly isSettled: boolean;
  readonly olderTo: bigint;
  readonly isPassOver: boolean;
  readonly newest: bigint;
};

/**
 * The next page, on the snapshot of the run. A row is new when it is settled: an earlier run has seen its id or a higher
 * one, and every transaction that was in progress then has ended, so that no lower id can appear any more. The other rows
 * of the page are a slice of the pass through all rows.
 */
export async function nextPage(db: Queryable, table: Table, position: Position, everyMs: number): Promise<Page> {
  const { examinedTo, newest, horizon, passedTo, hasPassed } = position;
  const { name, rows, id, pageRows = PAGE_ROWS } = table;
  const extent = await one<Extent>(
    db,
    sql`with known as (
          select ${horizon}::bigint <= pg_snapshot_xmin(pg_current_snapshot())::text::bigint as is_settled
        ), settled as (
          select is_settled, case when is_settled then greatest(${newest}::bigint, ${examinedTo}::bigint) else ${examinedTo}::bigint end as to_id
          from known
        ), fresh as (
          select ${id} as id from ${rows}, settled where ${id} > ${examinedTo} and ${id} <= to_id order by ${id} limit ${pageRows}
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
        select case when (select count(*) from fresh) < ${pageRows} then to_id else (select max(id) from fresh) end as "freshTo",
               to_id as "settledTo", is_settled as "isSettled", coalesce((select max(id) from older), ${passedTo}) as "olderTo",
               (select count(*) from fresh) < ${pageRows} and (select count(*) < (select rows from size) from older) as "isPassOver",
               coalesce((select max(${id}) from ${rows}), 0) as newest
        from settled`,
  );
  return {
    table,
    fresh: { after: examinedTo, to: extent.freshTo },
    older: { after: passedTo, to: extent.olderTo },
    newest: extent.newest,
    endsPass: extent.isPassOver,
    settledTo: extent.settledTo,
    isSettled: extent.isSettled,
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
 * The position after a page. `open` are its rows that may still change, ascending, and one more than the maximum where there
 * are more: new rows beyond it are examined once there are fewer.
 */
export function positionAfter(page: Page, open: readonly bigint[]): Omit<Position, "newest" | "horizon"> {
  const kept = open.slice(0, MAX_OPEN_ROWS);
  const [last = 0n, next] = open.slice(MAX_OPEN_ROWS - 1);
  const { fresh, older, endsPass } = page;
  const examinedTo = next === undefined || last >= fresh.to ? fresh.to : max(fresh.after, last);
  return { examinedTo, open: kept, passedTo: older.to, hasPassed: endsPass };
}

/**
 * The first transaction id that is not in use yet. It is read after the newest ids, so that a transaction that has drawn a
 * lower one has an id of its own.
 */
export async function readHorizon(db: Queryable): Promise<bigint> {
  const { horizon } = await one<{ horizon: bigint }>(
    db,
    sql`select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as horizon`,
  );
  return horizon;
}

function max(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}
