import { Mt5Error } from "./errors.ts";

/** Maximum of rows that the platform returns at once. */
export const PAGE_ROWS = 100;
/** Above the size of any real account's list. */
const MAX_ROWS = 1_000_000;
/** Rows may be added during a read. A list that changes in each of these reads is read again by a later run. */
const MAX_TRIES = 3;

export type PagedList<Row> = {
  readonly what: string;
  readonly total: () => Promise<number>;
  readonly page: (offset: number) => Promise<readonly Row[]>;
  /** Equal ids on two pages are the same row. */
  readonly idOf: (row: Row) => bigint;
};

/** A whole list, or an incomplete error: a missing row would be taken as proof that a deal does not exist. */
export async function readWhole<Row>(list: PagedList<Row>): Promise<readonly Row[]> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const total = await list.total();
    if (total > MAX_ROWS) break;
    const rows = total === 0 ? await readEmpty(list) : await readPages(list, total);
    if (rows?.length === total) return rows;
  }
  throw new Mt5Error("incomplete", `the platform's list of ${list.what} could not be read whole`);
}

/** A page with rows contradicts a total of zero: then the total is asked for again. */
async function readEmpty<Row>({ page }: PagedList<Row>): Promise<readonly Row[] | undefined> {
  return (await page(0)).length === 0 ? [] : undefined;
}

/**
 * Rows may be added and removed between two pages. When one is removed while another is added, the total is unchanged but
 * a third row moves across the edge of a page. So each page begins with the last row of the page before, which is then
 * a different row, and the last page must not be full. Undefined when the pages do not fit together.
 */
async function readPages<Row>({ page, idOf }: PagedList<Row>, total: number): Promise<readonly Row[] | undefined> {
  const rows = new Map<bigint, Row>();
  let last: bigint | undefined;
  for (let offset = 0; ;) {
    const read = await page(offset);
    const [first] = read;
    if (first === undefined || (last !== undefined && idOf(first) !== last)) return undefined;
    const known = rows.size;
    for (const row of read) {
      last = idOf(row);
      rows.set(last, row);
    }
    offset += read.length - 1;
    if (rows.size >= total && read.length < PAGE_ROWS) return Array.from(rows.values());
    if (rows.size === known || rows.size > total) return undefined;
  }
}
