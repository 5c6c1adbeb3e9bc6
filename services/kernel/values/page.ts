import type { FieldError } from "./refusal.ts";

/**
 * A page of this size fits into one message of the broker and one response of the edge. It also limits the logins that one
 * request names. The contracts state it too.
 */
export const MAX_PAGE_SIZE = 1_000;

/** The nearest size that a page may have. */
export function pageSize(limit: number): number {
  return Math.min(Math.max(limit, 1), MAX_PAGE_SIZE);
}

const ABOVE_ALL_IDS = 2n ** 63n - 1n;

/** The id below which a page begins that is listed from the newest on; 0 stands for the first one. */
export function belowId(beforeId: bigint): bigint {
  return beforeId === 0n ? ABOVE_ALL_IDS : beforeId;
}

/** The store reads one row more than the page holds: its presence means that there is another page. */
export function pageOf<Row>(rows: readonly Row[], size: number): { items: Row[]; hasMore: boolean } {
  return { items: rows.slice(0, size), hasMore: rows.length > size };
}

/**
 * The row of a cursor is not there any more, as after a restore of the database, so its place in an order of other columns is not known. An empty
 * page would be taken for the end of the list.
 */
export const LOST_PLACE: FieldError = {
  field: "cursor",
  code: "invalid_cursor",
  message: "cursor is of an item that does not exist any more: begin the list again.",
};

/** Half of a message of the broker: the other half is for what has a limit of its own. */
const MAX_TEXT_BYTES = 512 * 1_024;

/** As pageOf, and cut before what clients have written would not fit into one message. It has one row at least. */
export function fittingPage<Row>(
  rows: readonly Row[],
  size: number,
  writtenOf: (row: Row) => unknown,
): { items: Row[]; hasMore: boolean } {
  const { items, hasMore } = pageOf(rows, size);
  let bytes = 0;
  const end = items.findIndex((row, index) => {
    bytes += Buffer.byteLength(JSON.stringify(writtenOf(row)) ?? "");
    return index > 0 && bytes > MAX_TEXT_BYTES;
  });
  return end < 0 ? { items, hasMore } : { items: items.slice(0, end), hasMore: true };
}
