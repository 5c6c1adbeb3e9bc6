import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import type { Deps } from "../../deps.ts";
import type { Readings } from "./read-accounts.ts";

/** What is decided, and with which deal. */
export type Wanted = { readonly dealId: bigint; readonly at: Date };

/** One thing that people may decide. */
export type Effect = {
  /** Accounts that have to be read for it. */
  readonly readsOf: (about: ReviewCase) => readonly string[];
  /** Whether it may be proposed; throws actionNotPossible. */
  readonly examine: (about: ReviewCase, wanted: Wanted, readings: Readings) => void;
  /** All of it, in the transaction that decides; throws actionNotPossible when the books do not bear it now. */
  readonly carryOut: (
    tx: Transaction,
    deps: Deps,
    saga: { readonly about: ReviewCase; readonly wanted: Wanted; readonly readings: Readings },
  ) => Promise<void>;
};
