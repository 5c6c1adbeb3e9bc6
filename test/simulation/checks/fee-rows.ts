import type { Database } from "../postgres/database.ts";
import { textOf, type Value, type Values } from "../postgres/types.ts";
import { isUnder } from "./movement.ts";

/** What an Investor owes for a fee, one row for each run, as the fee service records it. */
export type PaymentRow = {
  readonly id: bigint;
  readonly key: string;
  readonly runId: bigint;
  readonly kind: "PF" | "PF_DEBT";
  readonly suffix: string;
  readonly master: string;
  readonly investor: string;
  readonly paymentAccount: string;
  readonly status: string;
  /** Without what imported fees had paid of it. */
  readonly dueMinor: bigint;
  readonly prepaidMinor: bigint;
  /** The hash of the key under which the fee was collected. */
  readonly keyHash: string;
  /** A fee that was collected before a rewind and that no payment knew. */
  readonly isImported: boolean;
  readonly takenMinor: bigint;
  readonly debitDeal: bigint | null;
  readonly creditDeal: bigint | null;
  /** Cents that became debt, and that no payment of the debt has taken over. */
  readonly owedMinor: bigint;
};

/** What an Investor owes at one Master: the unpaid debt, and the high-water mark in units of 1e-8 USD. */
export type PairRow = {
  readonly investor: string;
  readonly master: string;
  readonly debtMinor: bigint;
  /** What imported fees have paid and no fee was due for yet. */
  readonly prepaidMinor: bigint;
  readonly markE8: bigint;
};

/** The committed rows of the fee service and the allocations that they are computed from, as the checks read them. */
export class FeeRows {
  readonly #fees: Database;
  readonly #subscriptions: Database;

  constructor(fees: Database, subscriptions: Database) {
    this.#fees = fees;
    this.#subscriptions = subscriptions;
  }

  payments(): readonly PaymentRow[] {
    return Array.from(this.#fees.committed("fee_payment"), paymentOf);
  }

  /** The payment whose transfer has this key, or a key that begins with its key. */
  paymentUnder(key: string): PaymentRow | undefined {
    return this.payments().find((payment) => isUnder(payment.key, key));
  }

  paymentsOf({ investor, master }: Pick<PairRow, "investor" | "master">): readonly PaymentRow[] {
    return this.payments().filter((payment) => payment.investor === investor && payment.master === master);
  }

  pairs(): readonly PairRow[] {
    const owed = this.payments().filter(({ owedMinor }) => owedMinor > 0n);
    const debts = Map.groupBy(owed, nameOf);
    const prepaid = new Map(Array.from(this.#fees.committed("fee_prepaid"), (row) => [nameOf(ownerOf(row)), row]));
    const marks = new Map(this.#rows("pair").map((row) => [nameOf(ownerOf(row)), row]));
    return [...new Set([...debts.keys(), ...prepaid.keys(), ...marks.keys()])].map((name) => {
      const debt = debts.get(name) ?? [];
      const mark = marks.get(name);
      return {
        ...(debt[0] ?? ownerOf((prepaid.get(name) ?? mark)!)),
        debtMinor: debt.reduce((sum, { owedMinor }) => sum + owedMinor, 0n),
        prepaidMinor: (prepaid.get(name)?.["prepaid_minor"] ?? 0n) as bigint,
        markE8: (mark?.["mark_e8"] ?? 0n) as bigint,
      };
    });
  }

  /** The fees of a pair that are decided and that the fee service has not recorded, in cents; debts have been fees before. */
  unrecorded({ investor, master }: Pick<PairRow, "investor" | "master">): readonly bigint[] {
    const recorded = new Set(this.payments().map(({ key }) => key));
    const due = this.#rows("due_fee").filter(
      (row) => row["investor_login"] === investor && row["owed_to"] === master && row["kind"] === "PF",
    );
    return due.flatMap((row) => (recorded.has(textOf(row["key"]!)) ? [] : [row["amount_minor"] as bigint]));
  }

  /** Weekly runs of a Master for the same period. */
  weeklyRuns(master: Value, periodEnd: Value): readonly Values[] {
    const runs = rowsWith(this.#fees, "fee_run", "master_login", master);
    return runs.filter((run) => run["kind"] === "WEEKLY" && run["period_end"] === periodEnd);
  }

  /** The maximum sum of the allocated results of an Investor at a Master, in cents. */
  bestResult({ investor, master }: Pick<PairRow, "investor" | "master">): bigint {
    const owners = new Map(this.#rows("subscription").map((row) => [row["id"]!, row["investor_login"]!]));
    const parts = this.#rows("allocation_row")
      .filter((row) => row["master_login"] === master && owners.get(row["subscription_id"]!) === investor)
      .toSorted((left, right) => Number((left["number"] as bigint) - (right["number"] as bigint)));
    let sum = 0n;
    let best = 0n;
    for (const part of parts) {
      sum += part["amount_minor"] as bigint;
      if (sum > best) best = sum;
    }
    return best;
  }

  /** The sum of all results that were allocated to an Investor, in cents. */
  allocatedTo(investor: string): bigint {
    const owned = this.#rows("subscription").filter((row) => row["investor_login"] === investor);
    const ids = new Set(owned.map((row) => row["id"]!));
    const parts = this.#rows("allocation_row").filter((row) => ids.has(row["subscription_id"]!));
    return parts.reduce((sum, row) => sum + (row["amount_minor"] as bigint), 0n);
  }

  /** Masters with closed weeks that are not decided, or with decided fees that the fee service has not recorded. */
  undecided(): readonly string[] {
    const decisions = this.#rows("fee_decision").filter((row) => row["recorded_at"] === null);
    return [...new Set([...this.#rows("open_week"), ...decisions].map((row) => textOf(row["master_login"]!)))];
  }

  #rows(table: string): readonly Values[] {
    return [...this.#subscriptions.committed(table)];
  }
}

function rowsWith(database: Database, table: string, column: string, value: Value): readonly Values[] {
  return [...database.committed(table)].filter((row) => row[column] === value);
}

export function paymentOf(row: Values): PaymentRow {
  return {
    id: row["id"] as bigint,
    key: textOf(row["key"]!),
    runId: row["run_id"] as bigint,
    kind: row["kind"] as PaymentRow["kind"],
    suffix: textOf(row["suffix"]!),
    master: textOf(row["master_login"]!),
    investor: textOf(row["investor_login"]!),
    paymentAccount: textOf(row["payment_account_login"]!),
    status: textOf(row["status"]!),
    dueMinor: (row["due_minor"] as bigint) - (row["prepaid_minor"] as bigint),
    prepaidMinor: row["prepaid_minor"] as bigint,
    keyHash: textOf(row["key_hash"]!),
    isImported: textOf(row["suffix"]!).startsWith("IM"),
    takenMinor: row["amount_minor"] as bigint,
    debitDeal: row["deal_id"] as bigint | null,
    creditDeal: row["credit_deal_id"] as bigint | null,
    owedMinor: owedOf(row),
  };
}

function owedOf(row: Values): bigint {
  if (row["status"] === "PENDING" || row["status"] === "EXECUTING" || row["taken_by_id"] !== null) return 0n;
  return (row["due_minor"] as bigint) - (row["prepaid_minor"] as bigint) - (row["amount_minor"] as bigint);
}

/** Of a row of a pair or a payment. */
export function ownerOf(row: Values): Pick<PairRow, "investor" | "master"> {
  return { investor: textOf(row["investor_login"]!), master: textOf(row["master_login"]!) };
}

export function nameOf({ investor, master }: Pick<PairRow, "investor" | "master">): string {
  return `${investor} with ${master}`;
}

export function isOpenPayment({ status }: PaymentRow): boolean {
  return status === "PENDING" || status === "EXECUTING";
}
