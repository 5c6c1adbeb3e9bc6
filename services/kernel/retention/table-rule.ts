import { type Fragment, fragment, one, sql } from "../postgres/query.ts";
import type { Removed, RetentionRule } from "./rule.ts";

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
    async removeNext(db, { before, position, maxRows }) {
      const from = position.length === 0 ? key.map(({ lowest }) => lowest) : position;
      const values = list(key.map(({ type }, index) => fragment`${from[index]}::text::${type}`));
      const result = await one<Omit<Removed, "position"> & { position: string[] | null }>(
        db,
        sql`with page as materialized (
              select item.ctid as place, ${endedAt} < ${before} and ${isFinished} as is_due, ${begunAt} < ${before} as is_old,
                     array[${list(key.map(({ column }) => fragment`item.${column}::text`))}] as position,
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
                   (select position from page order by rank desc limit 1) as position,
                   (select count(*) < ${maxRows} or not bool_or(is_old) from page) as "endsPass"`,
      );
      return { ...result, position: result.position ?? position };
    },
  };
}

function list(items: readonly Fragment[]): Fragment {
  return items.reduce((left, right) => fragment`${left}, ${right}`);
}
