/** One entry of a Master's allocations, in the one order that counts. */
export type JournalEntry = JournalResult | JournalWeek;

export type JournalResult = {
  readonly kind: "RESULT";
  readonly number: bigint;
  readonly dealId: bigint;
  readonly dealAt: Date;
  /** Signed, cents. */
  readonly result: bigint;
};

export type JournalWeek = {
  readonly kind: "WEEK";
  readonly number: bigint;
  readonly periodStart: Date;
  /** Exclusive. */
  readonly cutOff: Date;
  readonly markedAt: Date | undefined;
};

/** What an entry means to one Investor. */
export type JournalPart = {
  readonly number: bigint;
  readonly subscriptionId: bigint;
  readonly investorLogin: string;
  /** Signed, cents. */
  readonly amount: bigint;
  /** Signed, units of 1e-8 USD; of a closed week. */
  readonly floating: bigint;
};

/** Entries that belong together, with all their parts: committed at once, or not at all. */
export type JournalBatch = {
  readonly masterLogin: string;
  /** Number of the entry before the first one. */
  readonly after: bigint;
  readonly entries: readonly JournalEntry[];
  readonly parts: readonly JournalPart[];
};

/** The entries that one transaction files: a closed week is decided where it stands, so it ends a batch. */
export function untilWeek(entries: readonly JournalEntry[]): JournalEntry[] {
  const week = entries.findIndex(({ kind }) => kind === "WEEK");
  return week === -1 ? [...entries] : entries.slice(0, week + 1);
}

/** Why the entries do not continue what was read before; undefined when they do. */
export function findGap(after: bigint, entries: readonly { readonly number: bigint }[]): string | undefined {
  for (const [index, { number }] of entries.entries()) {
    const expected = after + BigInt(index) + 1n;
    if (number !== expected) return `entry ${expected} is missing, ${number} came instead`;
  }
  return undefined;
}
