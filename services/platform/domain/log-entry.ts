import type { Money } from "#kernel/values/money.ts";
import type { Role } from "./role.ts";

/**
 * Why a balance changed: a leg of the service or an external event. An `amendment` changes no balance. A
 * `correction` is the difference between an account whose deals were amended and its log.
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

/** What happened to a deal of an account after it was recorded. */
export type AmendmentKind = "deal_gone" | "deal_changed" | "deal_cancelled" | "unmatched_deal";

/** The fields of a trader's deal that an allocation needs. Volumes are lots in units of 1e-8. */
export type Trade = {
  readonly action: number;
  readonly entry: number;
  readonly positionId: bigint;
  readonly symbol: string;
  readonly volume: bigint;
  readonly volumeClosed: bigint;
  /** Cents, signed. */
  readonly profitMinor: bigint;
  readonly swapMinor: bigint;
  readonly commissionMinor: bigint;
  readonly feeMinor: bigint;
};

/** Of a deal, or of a row that has its columns. */
export function tradeOf(deal: Trade): Trade {
  const { action, entry, positionId, symbol, volume, volumeClosed } = deal;
  const { profitMinor, swapMinor, commissionMinor, feeMinor } = deal;
  return { action, entry, positionId, symbol, volume, volumeClosed, profitMinor, swapMinor, commissionMinor, feeMinor };
}

/** The type and the comment of a balance operation, as the platform shows them. */
export type DealLabel = { readonly action: number; readonly comment: string };

/** The leg of the service behind an entry. */
export type EntryCause = { readonly leg: bigint; readonly transferId: bigint; readonly key: string };

/** A confirmed change of a login's balance, before it has its log position. */
export type NewEntry = {
  readonly kind: EntryKind;
  readonly amount: Money;
  readonly cause?: EntryCause | undefined;
  readonly deal?: EntryDeal | undefined;
  readonly at: Date;
  readonly trade?: Trade | undefined;
  /** For an external entry, how its maker has labelled it. */
  readonly label?: DealLabel | undefined;
  /** For an amendment, what happened to its deal. */
  readonly amendment?: AmendmentKind | undefined;
  /** For an amendment of a recorded deal, what the platform shows of it, as text. */
  readonly shownAs?: string | undefined;
  /** For a correction, the review that has decided it. */
  readonly reviewId?: bigint | undefined;
};

export type EntryDeal = {
  readonly id: bigint;
  /** Milliseconds by the platform's own clock; undefined while only the ticket is known. */
  readonly serverMsc: bigint | undefined;
};

export type LogEntry = NewEntry & {
  readonly login: string;
  readonly role: Role;
  readonly number: bigint;
  readonly id: bigint;
};
