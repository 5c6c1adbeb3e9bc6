import { type Fragment, fragment, one, sql, type Queryable } from "../postgres/query.ts";

/** Rows that are no longer needed some time after they ended. */
export type RetentionRule = {
  /** The value of the label `rule` of the metrics. */
  readonly name: string;
  /** The tables whose rows it removes. */
  readonly tables: readonly string[];
  readonly keptMs: number;
  /** Removes the next rows in one statement, which takes milliseconds and waits for no lock. */
  readonly removeNext: (db: Queryable, step: Step) => Promise<Removed>;
  /** What has to be there before rows are inserted; called before each pass, and has no effect when it is there. */
  readonly prepare?: (db: Queryable) => Promise<void>;
};

export type Step = {
  /** Rows that ended before this instant are removed. */
  readonly before: Date;
  /** Where the last step of the pass ended; empty to begin with the oldest row. */
  readonly cursor: readonly string[];
  /** Rows that the statement reads. */
  readonly maxRows: number;
};

export type Removed = {
  readonly count: number;
  readonly cursor: readonly string[];
  /** All other rows are younger. */
  readonly endsPass: boolean;
};

/** A column of the index by which a rule reads its table, with its type and a value below all others. */
export type KeyColumn = { readonly column: Fragment; readonly type: Fragment; readonly lowest: string };

export type TableRuleOptions = {
  readonly name: string;
  readonly table: string;
  /** Further tables whose rows the database removes with those of the table (`on delete cascade`). */
  readonly alsoRemoved?: readonly string[];
  readonly keptMs: number;
  readonly rows: Fragment;
  /** An index of the table that has older rows first. In the conditions the row is `item`. */
  readonly key: readonly KeyColumn[];
  /** When the row was inserted: in the order of the key, apart from what was inserted at the same time. */
  readonly begunAt: Fragment;
  /** When it was needed last; null while it is needed. Not before `begunAt`. */
  readonly endedAt: Fragment;
  /** What else has to be true of a row that is removed. */
  readonly isFinished?: Fragment;
};

/** The key of rows whose ids are drawn from a sequence. */
export const BY_ID: readonly KeyColumn[] = [{ column: fragment`id`, type: fragment`bigint`, lowest: "0" }];

/** Rows in the order of the time in this column, at which they were inserted. Of rows with the same time some may be left to the next pass. */
export function byTime(column: Fragment): Pick<TableRuleOptions, "key" | "begunAt"> {
  return {
    key: [{ column, type: fragment`timestamptz`, lowest: "-infinity" }],
    begunAt: fragment`item.${column}`,
  };
}

/**
 * Removes rows of one table. A statement reads the next rows in the order of an index, so its time does not depend on the size of
 * the table, and leaves out rows that another transaction has locked. The pass ends where all rows are young.
 */
export function tableRule(options: TableRuleOptions): RetentionRule {
  const { name, table, alsoRemoved = [], keptMs, rows, key, begunAt, endedAt, isFinished = fragment`true` } = options;
  const columns = list(key.map(({ column }) => fragment`item.${column}`));
  return {
    name,
    tables: [table, ...alsoRemoved],
    keptMs,
    async removeNext(db, { before, cursor, maxRows }) {
      const from = cursor.length === 0 ? key.map(({ lowest }) => lowest) : cursor;
      const values = list(key.map(({ type }, index) => fragment`${from[index]}::text::${type}`));
      const result = await one<Omit<Removed, "cursor"> & { cursor: string[] | null }>(
        db,
        sql`with page as materialized (
              select item.ctid as place, ${endedAt} < ${before} and ${isFinished} as is_due, ${begunAt} < ${before} as is_old,
                     array[${list(key.map(({ column }) => fragment`item.${column}::text`))}] as cursor,
                     row_number() over (order by ${columns}) as rank
              from ${rows} as item
              where (${columns}) > (${values})
              order by ${columns}
              limit ${maxRows}
            ), due as materialized (
              select item.ctid as place
              from ${rows} as item
              where item.ctid = any (array(select place from page where is_due)) and ${endedAt} < ${before} and ${isFinished}
              for update skip locked
            ), removed as (
              delete from ${rows} as item using due where item.ctid = due.place returning 1
            )
            select (select count(*) from removed)::integer as count,
                   (select cursor from page order by rank desc limit 1) as cursor,
                   (select count(*) < ${maxRows} or not bool_or(is_old) from page) as "endsPass"`,
      );
      return { ...result, cursor: result.cursor ?? cursor };
    },
  };
}

function list(items: readonly Fragment[]): Fragment {
  return items.reduce((left, right) => fragment`${left}, ${right}`);
}
