import { maybeOne, type Queryable, type Statement } from "../postgres/query.ts";
import type { PendingBreak } from "./check.ts";

/**
 * A run reads the newest rows, this many of the older ones (from the cursor on, in repeated passes), and every row with a
 * break that is not closed. So new rows are compared within a minute and a million rows within hours, at a bounded cost.
 */
export const ROWS_PER_RUN = 5_000;

/** The numbers in the keys of this kind, for example of transfer:17. */
export function idsOf(pendingBreaks: readonly PendingBreak[], kind: string): bigint[] {
  return pendingBreaks
    .map(({ key }) => key.split(":"))
    .filter(([name, id]) => name === kind && /^\d+$/.test(id ?? ""))
    .map(([, id]) => BigInt(id ?? 0));
}

/** The last id of this run; empty when it reached the last row. */
export async function nextCursor(db: Queryable, lastOfRun: Statement): Promise<string> {
  const row = await maybeOne<{ id: bigint }>(db, lastOfRun);
  return row === undefined ? "" : String(row.id);
}
