/** What became of asking the platform for a payment. */
export type PaymentOutcome =
  | Paid
  /** The Investor has paid; the credit is on its way. */
  | { readonly kind: "debited"; readonly amount: bigint; readonly transferId: bigint; readonly debitDealId: bigint }
  | Unpaid
  /** Nothing is recorded, or nobody knows yet: it is asked again under the same key. */
  | { readonly kind: "open"; readonly reason: string; readonly isBusy: boolean };

/** Both legs are on the platform. */
export type Paid = {
  readonly kind: "paid";
  /** Cents, positive; less than what was due when the account did not have it. */
  readonly amount: bigint;
  readonly transferId: bigint;
  readonly debitDealId: bigint;
  readonly creditDealId: bigint;
  readonly executedAt: Date;
};

/** Surely nothing was taken, and never will be under this key: what was due is debt. */
export type Unpaid = {
  readonly kind: "unpaid";
  readonly status: "DEFERRED" | "REVERSED" | "SKIPPED";
  readonly reason: string;
};

/**
 * A refusal of the debit is final. A debt of which there was nothing to take was not even tried; a fee of which nothing
 * could be paid is on record.
 */
export function unpaid(kind: "PF" | "PF_DEBT", refusalCode: string): Unpaid {
  if (refusalCode === "credit_refused") return { kind: "unpaid", status: "REVERSED", reason: refusalCode };
  const isUntried = kind === "PF_DEBT" && refusalCode === "nothing_to_take";
  return { kind: "unpaid", status: isUntried ? "SKIPPED" : "DEFERRED", reason: refusalCode };
}
