import type { EntryKind, AmendmentKind, Trade } from "./log-entry.ts";

/** A deal as the log of a login says it now: as it was told, and as it was corrected since. */
export type LoggedDeal = {
  readonly login: string;
  readonly ticket: bigint;
  readonly kind: EntryKind;
  /** Cents, signed: what the log has for it, its corrections included. */
  readonly amountMinor: bigint;
  readonly at: Date;
  /** Undefined when only the answer of a command told of it. */
  readonly serverMsc: bigint | undefined;
  readonly trade: Trade | undefined;
  /** How often it was corrected. */
  readonly state: number;
  /** What it is since it was corrected last; undefined when it never was. */
  readonly correctedTo: AmendmentKind | undefined;
};

/** What the log has about one deal: the entry that booked it, if one did, and its corrections, the oldest first. */
export function loggedDeal([first, ...corrections]: readonly LoggedDeal[]): LoggedDeal | undefined {
  if (first === undefined) return undefined;
  return corrections.reduce(
    (told, correction) => ({
      ...correction,
      kind: told.kind,
      amountMinor: told.amountMinor + correction.amountMinor,
      serverMsc: correction.serverMsc ?? told.serverMsc,
    }),
    first,
  );
}
