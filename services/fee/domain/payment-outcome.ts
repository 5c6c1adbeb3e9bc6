/** The outcome of the transfer of a payment. */
export type PaymentOutcome =
  | Paid
  /** The debit is executed; the credit is pending. */
  | { readonly kind: "debited"; readonly amount: bigint; readonly transferId: bigint; readonly debitDealId: bigint }
  | Unpaid
  /** Nothing is recorded, or the outcome is unknown: the transfer is requested again under the same key. */
  | { readonly kind: "open"; readonly reason: string; readonly isBusy: boolean };

/** Both legs are executed. */
export type Paid = {
  readonly kind: "paid";
  /** Cents, positive; less than due when the free funds of the account were lower. */
  readonly amount: bigint;
  readonly transferId: bigint;
  readonly debitDealId: bigint;
  readonly creditDealId: bigint;
  readonly executedAt: Date;
};

/** Nothing was collected, and nothing will be under this key: the due amount becomes debt. */
export type Unpaid = {
  readonly kind: "unpaid";
  readonly status: "DEFERRED" | "REVERSED" | "SKIPPED";
  readonly reason: string;
};

/** Whether a payment is not settled: its debit or its credit is pending. */
export function isOpen({ status }: { readonly status: string }): boolean {
  return status === "PENDING" || status === "EXECUTING";
}

/** Imported fees had paid it, or one was sent under its key: nothing is sent. */
export const COLLECTED_BEFORE: Unpaid = { kind: "unpaid", status: "SKIPPED", reason: "collected_before" };

/** Code of platform for an account that the broker has archived: nothing was taken, and the fee stays due. */
export const ACCOUNT_ARCHIVED = "account_archived";

/** A refusal of the debit is final. With no free funds the payment of a debt is SKIPPED, and that of a fee is DEFERRED. */
export function unpaid(kind: "PF" | "PF_DEBT", refusalCode: string): Unpaid {
  if (refusalCode === "credit_refused") return { kind: "unpaid", status: "REVERSED", reason: refusalCode };
  const isUntried = kind === "PF_DEBT" && refusalCode === "nothing_to_take";
  return { kind: "unpaid", status: isUntried ? "SKIPPED" : "DEFERRED", reason: refusalCode };
}
