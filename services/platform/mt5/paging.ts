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

/** A whole list, or an error: a list with a gap would prove the absence of what is missing. */
export async function readWhole<Row>(list: PagedList<Row>): Promise<readonly Row[]> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const total = await list.total();
    if (total > MAX_ROWS) break;
    const rows = total === 0 ? [] : await readPages(list, total);
    if (rows?.length === total) return rows;
  }
  throw new Mt5Error("incomplete", `the platform's list of ${list.what} could not be read whole`);
}

/**
 * Rows may come and go between two pages, and one that goes while another comes leaves the number as it was but pushes
 * a third one over the edge of a page. So each page begins with the last row of the one before, which is another row
 * then, and the last page is one that is not full. Undefined when the pages do not fit.
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
