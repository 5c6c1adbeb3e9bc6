import { type Debt, inOrder } from "./debt.ts";
import { decideDebts, decideDue, type Due, type DueFacts, explainDue, sumOfDue } from "./due.ts";
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
  const due = own === undefined ? decideDebts(facts) : decideDue({ ...facts, ...own }).due;
  const fees = due.filter(({ kind }) => kind === "PF");
  const debts = due.filter(({ kind }) => kind === "PF_DEBT");
  const used = prepaidOf(due, prepaid);
  return {
    isEnabled: isEnabledAt(facts.versions, facts.at),
    at: facts.at,
    fee: sumOfDue(fees),
    debt: sumOfDue(debts),
    prepaid: used,
    total: sumOfDue(due) - used,
    debts: inOrder(debts),
    explanation: own && explainDue({ ...facts, ...own }),
  };
}

/** The part of what is due that imported fees of the same Master have paid. */
function prepaidOf(due: readonly Due[], prepaid: ReadonlyMap<string, bigint>): bigint {
  const byMaster = Map.groupBy(due, ({ masterLogin }) => masterLogin);
  return [...byMaster].reduce((sum, [masterLogin, own]) => {
    const [owed, paid] = [sumOfDue(own), prepaid.get(masterLogin) ?? 0n];
    return sum + (paid < owed ? paid : owed);
  }, 0n);
}
