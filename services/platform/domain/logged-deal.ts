import type { EntryKind, AmendmentKind, Trade } from "./log-entry.ts";

/** A deal according to the log of a login: as it was recorded, with its corrections. */
export type LoggedDeal = {
  readonly login: string;
  readonly ticket: bigint;
  readonly kind: EntryKind;
  /** Cents, signed: the sum of its entry and its corrections. */
  readonly amountMinor: bigint;
  readonly at: Date;
  /** Undefined when the deal is known only from the answer to a command. */
  readonly serverMsc: bigint | undefined;
  readonly trade: Trade | undefined;
  /** How often it was corrected. */
  readonly state: number;
  /** What the last correction made of it; undefined when it was never corrected. */
  readonly correctedTo: AmendmentKind | undefined;
};

/** Combines the entries of one deal: the one that booked it, if there is one, and its corrections, oldest first. */
export function loggedDeal([first, ...corrections]: readonly LoggedDeal[]): LoggedDeal | undefined {
  if (first === undefined) return undefined;
  return corrections.reduce(
    (sum, correction) => ({
      ...correction,
      kind: sum.kind,
      amountMinor: sum.amountMinor + correction.amountMinor,
      serverMsc: correction.serverMsc ?? sum.serverMsc,
    }),
    first,
  );
}
