/** The CRM's own record: what was moved, under which reference, and under which ticket the platform booked it. */
export type Entry = {
  readonly login: string;
  readonly reference: string;
  /** Signed, in cents. */
  readonly minor: bigint;
  readonly ticket: string;
};

export type Book = {
  readonly runId: string;
  readonly entries: Entry[];
};

const REFERENCE_DIGITS = 2;

export function openBook(now: number): Book {
  return { runId: now.toString(36), entries: [] };
}

/** Never used before, and short enough to survive in the platform's comment, which keeps 16 characters of it. */
export function nextReference({ runId, entries }: Book): string {
  return `demo-${runId}-${String(entries.length + 1).padStart(REFERENCE_DIGITS, "0")}`;
}

export function balanceOf({ entries }: Book, login: string): bigint {
  return entries.filter((entry) => entry.login === login).reduce((sum, { minor }) => sum + minor, 0n);
}
