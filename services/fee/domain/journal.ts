/** One entry of a Master's allocations; `number` is gapless per Master. */
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

/** The share of one Investor in an entry. */
export type JournalPart = {
  readonly number: bigint;
  readonly subscriptionId: bigint;
  readonly investorLogin: string;
  /** Signed, cents. */
  readonly amount: bigint;
  /** Signed, units of 1e-8 USD; of a closed week. */
  readonly floating: bigint;
};

/** Entries with all their parts, committed in one transaction. */
export type JournalBatch = {
  readonly masterLogin: string;
  /** Number of the entry before the first one. */
  readonly after: bigint;
  readonly entries: readonly JournalEntry[];
  readonly parts: readonly JournalPart[];
};

/** The entries up to and including the first closed week: a week is decided in the transaction that records it, so it ends a batch. */
export function untilWeek(entries: readonly JournalEntry[]): JournalEntry[] {
  const week = entries.findIndex(({ kind }) => kind === "WEEK");
  return week === -1 ? [...entries] : entries.slice(0, week + 1);
}

/** Why the entries do not continue what was read before; undefined when they do. */
export function findGap(after: bigint, entries: readonly { readonly number: bigint }[]): string | undefined {
  for (const [index, { number }] of entries.entries()) {
    const expected = after + BigInt(index) + 1n;
    if (number !== expected) return `entry ${expected} is missing, ${number} was received instead`;
  }
  return undefined;
}
