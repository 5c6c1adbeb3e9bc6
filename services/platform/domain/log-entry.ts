import type { Money } from "#kernel/money.ts";
import type { Role } from "./role.ts";

/**
 * Why a balance changed: an operation of ours, or something that happened without us. An irregularity changed none. A
 * correction says by how much a deal of before is now more or less than it was told.
 */
export type EntryKind =
  | "opening"
  | "deposit"
  | "withdrawal"
  | "fee_debit"
  | "fee_credit"
  | "result"
  | "mirror"
  | "exit"
  | "reversal"
  | "external"
  | "trade"
  | "amendment"
  | "correction";

/** What happened to the past of an account. */
export type AmendmentKind = "deal_gone" | "deal_changed" | "deal_cancelled" | "unmatched_deal";

/** What an allocation has to know of a trader's deal. Volumes are lots in units of 1e-8. */
export type Trade = {
  readonly action: number;
  readonly entry: number;
  readonly positionId: bigint;
  readonly symbol: string;
  readonly volume: bigint;
  readonly volumeClosed: bigint;
  readonly profit: Money;
  readonly swap: Money;
  readonly commission: Money;
  readonly fee: Money;
};

/** The operation of ours behind an entry. */
export type EntryCause = { readonly operation: bigint; readonly transferId: bigint; readonly key: string };

/** A change of a login's balance that is known to be true, before it has its number. */
export type NewEntry = {
  readonly kind: EntryKind;
  readonly amount: Money;
  readonly cause: EntryCause | undefined;
  readonly deal: EntryDeal | undefined;
  readonly at: Date;
  readonly trade: Trade | undefined;
  /** Of an irregularity what has happened to its deal; of a correction what the deal is from now on. */
  readonly amendment?: AmendmentKind | undefined;
  /** How often the deal of an irregularity or a correction had been corrected by then; a correction counts itself. */
  readonly dealState?: number;
  /** Of a correction: the trade as the platform shows it now. */
  readonly shownTrade?: Trade | undefined;
};

export type EntryDeal = {
  readonly id: bigint;
  /** Milliseconds as the platform's own clock showed them; undefined while only the ticket is known. */
  readonly serverMsc: bigint | undefined;
};

export type LogEntry = NewEntry & {
  readonly login: string;
  readonly role: Role;
  readonly number: bigint;
  readonly id: bigint;
};
