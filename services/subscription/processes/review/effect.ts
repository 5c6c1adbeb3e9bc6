import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import type { Deps } from "../../deps.ts";
import type { Readings } from "./read-accounts.ts";

/** The deal that the vote names, and the time of the decision. */
export type Wanted = { readonly dealId: bigint; readonly at: Date };

/** One action that operators may decide. */
export type Effect = {
  /** Logins of the accounts to read before. */
  readonly readsOf: (reviewCase: ReviewCase) => readonly string[];
  /** Logins of accounts that have to be in dollars and cents, though they may differ from their logs. */
  readonly inDollars?: (reviewCase: ReviewCase) => readonly string[];
  /** Throws actionNotPossible when the action may not be proposed. */
  readonly examine: (reviewCase: ReviewCase, wanted: Wanted, readings: Readings) => void;
  /** What of a proposal only the books can say; throws actionNotPossible. */
  readonly propose?: (
    tx: Transaction,
    proposal: { readonly reviewCase: ReviewCase; readonly wanted: Pick<Wanted, "dealId"> },
  ) => Promise<void>;
  /** Runs in the transaction of the decision; throws actionNotPossible when the books do not allow it now. */
  readonly carryOut: (
    tx: Transaction,
    deps: Deps,
    saga: { readonly reviewCase: ReviewCase; readonly wanted: Wanted; readonly readings: Readings },
  ) => Promise<void>;
};
