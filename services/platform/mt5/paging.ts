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
    if (rows?.length === total && (total <= PAGE_ROWS || (await list.total()) === total)) return rows;
  }
  throw new Mt5Error("incomplete", `the platform's list of ${list.what} could not be read whole`);
}

/**
 * Every page begins with the last row of the one before. One row that goes while another one comes leaves their number
 * as it was, and pushes a third one out of sight: then that row is another. Undefined when it is.
 */
async function readPages<Row>({ page, idOf }: PagedList<Row>, total: number): Promise<readonly Row[] | undefined> {
  const rows = new Map<bigint, Row>();
  let last: bigint | undefined;
  for (let offset = 0; rows.size < total; ) {
    const read = await page(offset);
    const [first] = read;
    if (first === undefined || (last !== undefined && idOf(first) !== last)) return undefined;
    const known = rows.size;
    for (const row of read) {
      last = idOf(row);
      rows.set(last, row);
    }
    if (rows.size === known) return undefined;
    offset += read.length - 1;
  }
  return Array.from(rows.values());
}
