import { DAY_MS } from "#kernel/duration.ts";
import { type Fragment, fragment, many, one, type Queryable, sql } from "#kernel/postgres/query.ts";

/** A table whose rows are searched for changes, and the login that each row concerns. */
type SearchedTable = { readonly name: string; readonly rows: Fragment; readonly login: Fragment };

/** Logins that are examined together with what was written of them. */
export type LoginTable = {
  /** The table with each login once. */
  readonly name: string;
  readonly rows: Fragment;
  readonly searched: readonly SearchedTable[];
  /** Logins that are examined together. */
  readonly pageSize: number;
};

const HOLDING = { name: "holding", rows: fragment`holding` };
const MASTER_POOL = { name: "master_pool", rows: fragment`master_pool` };
const INVESTOR_ACCOUNT = { name: "investor_account", rows: fragment`investor_account` };
const SUBSCRIPTION = { name: "subscription", rows: fragment`subscription` };

/** As many as one request to platform may name. */
const INVESTORS_OF_A_PAGE = 1_000;

/** Small pages, because all holdings of these Masters are read, and a pool may have ten thousand. */
export const MASTERS: LoginTable = {
  ...MASTER_POOL,
  searched: [
    { ...MASTER_POOL, login: fragment`login` },
    { ...HOLDING, login: fragment`master_login` },
  ],
  pageSize: 10,
};

export const INVESTORS: LoginTable = {
  ...INVESTOR_ACCOUNT,
  searched: [
    { ...INVESTOR_ACCOUNT, login: fragment`login` },
    { ...HOLDING, login: fragment`investor_login` },
  ],
  pageSize: INVESTORS_OF_A_PAGE,
};

/** Investors with their subscriptions. */
export const SUBSCRIBERS: LoginTable = {
  ...INVESTOR_ACCOUNT,
  searched: [{ ...SUBSCRIPTION, login: fragment`investor_login` }, ...INVESTORS.searched],
  pageSize: INVESTORS_OF_A_PAGE,
};

/** Where a check is between two runs: in the search for changes, and in the pass through all logins. */
export type Position = {
  /** The search finds what this transaction and later ones wrote; 0 before the first run. */
  readonly since: bigint;
  /** From which the next search finds it: the first transaction that had not ended when this search began; 0 before it begins. */
  readonly until: bigint;
  /** The search goes on at this block of this one of the searched tables. */
  readonly table: number;
  readonly block: number;
  /** The current pass through all logins has examined those up to this one. */
  readonly passedTo: string;
  readonly hasPassed: boolean;
};

export const AT_THE_START: Position = { since: 0n, until: 0n, table: 0, block: 0, passedTo: "", hasPassed: false };

export type Slice = {
  /** The first transaction that has not ended: what it and later ones write is new to a search that begins later. */
  readonly horizon: bigint;
  /** The next logins of the pass through all, ascending: a day's share, at least a page. */
  readonly logins: readonly string[];
  readonly endsPass: boolean;
};

export async function nextSlice(
  db: Queryable,
  { name, rows, pageSize }: LoginTable,
  { passedTo, hasPassed }: Position,
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

/** Of a table that the server has not analysed yet, or whose rows it underestimates. */
const MIN_ROWS_OF_A_BLOCK = 10;
const LAST_BLOCK = 4_294_967_295;

export type Searched = {
  /** Logins with rows in the parts that were written since. */
  readonly logins: readonly string[];
  /** Rows of the parts, as the server estimates them. */
  readonly rows: number;
  /** Where the next part begins; `table` is the number of the tables after the last part. */
  readonly table: number;
  readonly block: number;
};

/** The changed logins in the next parts, as many as have so many rows: most tables are one part each. */
export async function searchParts(
  db: Queryable,
  table: LoginTable,
  begin: Position,
  maxRows: number,
): Promise<Searched> {
  const logins = new Set<string>();
  let at = { rows: 0, table: begin.table, block: begin.block };
  while (begin.since > 0n && at.table < table.searched.length && at.rows < maxRows) {
    const part = await searchPart(db, table, { ...begin, ...at }, maxRows - at.rows);
    for (const login of part.logins) logins.add(login);
    at = { rows: at.rows + Math.max(1, part.rows), table: part.table, block: part.block };
  }
  return { logins: [...logins], ...at };
}

/**
 * The changed logins in the next part of a table. A login has changed when a row of it was written by a transaction that had not ended
 * when the last search began. The row names that transaction itself (xmin), whatever wrote it: no statement that moves money has to note
 * it, and a row that was written by hand is found too. A row that is written, or moves, behind the search is found by the next one.
 * After 2^32 transactions numbers repeat: a login is then examined once without need.
 */
async function searchPart(
  db: Queryable,
  { searched }: LoginTable,
  { since, table, block }: Position,
  maxRows: number,
): Promise<Searched> {
  const { name, rows, login } = searched[table] as SearchedTable;
  const size = await one<{ rows: number; blocks: number }>(
    db,
    sql`select reltuples::double precision as rows, (pg_relation_size(oid) / current_setting('block_size')::bigint)::integer as blocks
        from pg_class
        where oid = ${name}::regclass`,
  );
  const rowsOfABlock = Math.max(size.rows / Math.max(1, size.blocks), MIN_ROWS_OF_A_BLOCK);
  const end = block + Math.ceil(maxRows / rowsOfABlock);
  const isLast = end >= size.blocks;
  const found = await many<{ login: string }>(
    db,
    sql`select distinct ${login} as login
        from ${rows}
        where ctid >= ${`(${block},0)`}::tid and ctid < ${`(${isLast ? LAST_BLOCK : end},0)`}::tid
          and age(xmin) between 0 and (select age((${since}::bigint % 4294967296)::text::xid))
        order by login`,
  );
  return {
    logins: found.map((each) => each.login),
    rows: (Math.min(end, size.blocks) - block) * rowsOfABlock,
    ...(isLast ? { table: table + 1, block: 0 } : { table, block: end }),
  };
}
