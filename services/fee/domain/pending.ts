import { type Debt, inOrder } from "./debt.ts";
import { decideDebts, decideDue, type Due, type DueFacts, explainDue, lessPrepaid, sumOfDue } from "./due.ts";
import type { Explanation } from "./explain.ts";
import { isEnabledAt } from "./version.ts";

export type PendingFacts = Pick<DueFacts, "versions" | "debts" | "at"> & {
  /** Undefined outside a pool. */
  readonly own:
    | Pick<DueFacts, "masterLogin" | "earnings" | "floating" | "markedAt" | "throughNumber" | "since">
    | undefined;
  /** What imported fees have paid and no fee was due for yet, by Master. */
  readonly prepaid: ReadonlyMap<string, bigint>;
};

/** What would be taken if everything were crystallised now. Amounts in cents. */
export type Pending = {
  readonly isEnabled: boolean;
  readonly at: Date;
  readonly fee: bigint;
  readonly debt: bigint;
  readonly prepaid: bigint;
  /** Fee and debt, less prepaid. */
  readonly total: bigint;
  readonly debts: readonly Debt[];
  /** Undefined outside a pool, and while the switch is off. */
  readonly explanation: Explanation | undefined;
};

/** Decided by the function that decides weeks and withdrawals, from the same facts. */
export function decidePending({ own, prepaid, ...facts }: PendingFacts): Pending {
  const due = dueNow({ own, ...facts });
  const fees = due.filter(({ kind }) => kind === "PF");
  const debts = due.filter(({ kind }) => kind === "PF_DEBT");
  const total = lessPrepaid(due, prepaid).reduce((sum, amount) => sum + amount, 0n);
  return {
    isEnabled: isEnabledAt(facts.versions, facts.at),
    at: facts.at,
    fee: sumOfDue(fees),
    debt: sumOfDue(debts),
    prepaid: sumOfDue(due) - total,
    total,
    debts: inOrder(debts),
    explanation: own && explainDue({ ...facts, ...own }),
  };
}

/** In the sequence of collection. */
export function dueNow({ own, ...facts }: Omit<PendingFacts, "prepaid">): readonly Due[] {
  return own === undefined ? decideDebts(facts) : decideDue({ ...facts, ...own }).due;
}
