import { parseExact } from "#kernel/exact-decimal.ts";
import type { FeeCalculation } from "./fee-calculation.ts";

/** A part of a debt: what could not be collected of an earlier payment. */
export type DebtPart = {
  readonly paymentId: bigint;
  /** Cents, positive. */
  readonly amount: bigint;
  /** Since when it is owed. */
  readonly since: Date;
};

/** What has joined and left the pool since the fee before, in cents; outflows are positive. */
export type Flows = { readonly after: Date | undefined; readonly inflow: bigint; readonly outflow: bigint };

/** A payment, with everything that is known about why it has its amount. Amounts in cents. */
export type ExplainedPayment = {
  readonly kind: "PF" | "PF_DEBT";
  readonly suffix: string;
  readonly masterLogin: string;
  readonly investorLogin: string;
  readonly isImported: boolean;
  readonly status: "PENDING" | "EXECUTING" | "EXECUTED" | "SKIPPED" | "DEFERRED" | "REVERSED";
  readonly reason: string | undefined;
  readonly due: bigint;
  /** What imported fees had paid of it. */
  readonly prepaid: bigint;
  /** What was collected. */
  readonly amount: bigint;
  readonly since: Date;
  readonly executedAt: Date | undefined;
  readonly calculation: FeeCalculation | undefined;
  /** Of a debt, the oldest first. */
  readonly debtParts: readonly DebtPart[];
  /** Undefined without a calculation, and where they are not kept any more. */
  readonly flows: Flows | undefined;
};

/** Why an explanation is not the whole one. */
export type Missing = "imported" | "calculation" | "flows" | "debt_parts";

const MISSING: Readonly<Record<Missing, string>> = {
  imported: "The fee was collected before a restore of the database, which has lost what it was for.",
  calculation: "No calculation that adds up to this fee is recorded.",
  flows:
    "Deposits and withdrawals since the fee before are not kept any more, or cannot be read at the moment. They do not enter the fee.",
  debt_parts: "This debt comes from more payments than are shown.",
};

export function missingOf({ kind, isImported, calculation, due, debtParts, flows }: ExplainedPayment): Missing[] {
  if (isImported) return ["imported"];
  if (kind === "PF_DEBT") return debtParts.reduce((sum, { amount }) => sum + amount, 0n) === due ? [] : ["debt_parts"];
  if (calculation === undefined || parseExact(calculation.fee, 2) !== due) return ["calculation"];
  return flows === undefined ? ["flows"] : [];
}

export function describeMissing(missing: Missing): string {
  return MISSING[missing];
}

/** What became debt when the payment was settled. */
export function uncollectedOf({ status, due, prepaid, amount }: ExplainedPayment): bigint {
  const isOpen = status === "PENDING" || status === "EXECUTING";
  return isOpen ? 0n : due - prepaid - amount;
}
