/** Where a page of a statement begins or ends: an entry of the log, and the balance after it in cents. */
export type StatementPosition = { readonly number: bigint; readonly balance: bigint };

type Moved = { readonly number: bigint; readonly amount: bigint };

export type Line<Entry> = { readonly entry: Entry; readonly balance: bigint };

/** The entries with the balance after each; the last balance is that of the page. */
export function linesAfter<Entry>(
  opening: StatementPosition,
  entries: readonly Entry[],
  movedBy: (entry: Entry) => Moved,
): { readonly lines: readonly Line<Entry>[]; readonly closing: StatementPosition } {
  let closing = opening;
  const lines = entries.map((entry) => {
    const { number, amount } = movedBy(entry);
    if (number !== closing.number + 1n) throw new Error(`Entry ${number} follows entry ${closing.number} of a log.`);
    closing = { number, balance: closing.balance + amount };
    return { entry, balance: closing.balance };
  });
  return { lines, closing };
}
