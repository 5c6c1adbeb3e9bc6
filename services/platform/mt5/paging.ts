import { Mt5Error } from "./errors.ts";

/** The platform gives no more rows at once. */
export const PAGE_ROWS = 100;
/** More is not one account's list any more. */
const MAX_ROWS = 1_000_000;
const MAX_TRIES = 3;

export type PagedList<Row> = {
  readonly what: string;
  readonly total: () => Promise<number>;
  readonly page: (offset: number) => Promise<readonly Row[]>;
  /** Rows that two pages both show are one. */
  readonly idOf: (row: Row) => bigint;
};

/**
 * A whole list, or an error: a list with a gap would prove the absence of what is missing. Rows may come and go between
 * two pages, so the number of rows must be the same before and after, and as many must have been seen.
 */
export async function readWhole<Row>(list: PagedList<Row>): Promise<readonly Row[]> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const total = await list.total();
    if (total > MAX_ROWS) break;
    const rows = total === 0 ? [] : await readPages(list, total);
    // One page is one moment; only several of them need a second look.
    if (rows.length === total && (total <= PAGE_ROWS || (await list.total()) === total)) return rows;
  }
  throw new Mt5Error("incomplete", `the platform's list of ${list.what} could not be read whole`);
}

async function readPages<Row>({ page, idOf }: PagedList<Row>, total: number): Promise<readonly Row[]> {
  const rows = new Map<bigint, Row>();
  for (let offset = 0; offset < total;) {
    const read = await page(offset);
    if (read.length === 0) break;
    for (const row of read) rows.set(idOf(row), row);
    offset += read.length;
  }
  return Array.from(rows.values());
}
