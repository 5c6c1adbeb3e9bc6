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

/** How far a Master's allocations are in the journal. */
export type JournalPosition = {
  /** The last entry that is in it with all its parts; 0 before the first one. */
  readonly number: bigint;
  /** The last part of the next entry that is in it; 0 when none is. */
  readonly subscriptionId: bigint;
};

/** What one transaction adds to the journal: entries with all their parts, or the next parts of one large entry. */
export type JournalBatch = {
  readonly masterLogin: string;
  readonly after: JournalPosition;
  readonly entries: readonly JournalEntry[];
  readonly parts: readonly JournalPart[];
  /** False when its only entry has further parts. */
  readonly isComplete: boolean;
};

export function positionAfter({ after, entries, parts, isComplete }: JournalBatch): JournalPosition {
  if (isComplete) return { number: after.number + BigInt(entries.length), subscriptionId: 0n };
  return { number: after.number, subscriptionId: parts.at(-1)?.subscriptionId ?? after.subscriptionId };
}

/** The entries of which the journal has nothing yet. */
export function newEntries({ after, entries }: JournalBatch): readonly JournalEntry[] {
  return after.subscriptionId === 0n ? entries : entries.slice(1);
}

/** The next entries of a batch: results up to the next closed week, or that week alone, whose Investors are decided with it. */
export function untilWeek(entries: readonly JournalEntry[]): JournalEntry[] {
  const week = entries.findIndex(({ kind }) => kind === "WEEK");
  return week === -1 ? [...entries] : entries.slice(0, Math.max(week, 1));
}

/** Why the entries do not continue what was read before; undefined when they do. */
export function findGap(after: bigint, entries: readonly { readonly number: bigint }[]): string | undefined {
  for (const [index, { number }] of entries.entries()) {
    const expected = after + BigInt(index) + 1n;
    if (number !== expected) return `entry ${expected} is missing, ${number} was received instead`;
  }
  return undefined;
}
