import type { Database } from "../postgres/database.ts";
import { textOf, type Value, type Values } from "../postgres/types.ts";

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
  readonly creditId: bigint | null;
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
    return this.payments().find((payment) => key === payment.key || key.startsWith(`${payment.key}:`));
  }

  paymentsOf({ investor, master }: Pick<PairRow, "investor" | "master">): readonly PaymentRow[] {
    return this.payments().filter((payment) => payment.investor === investor && payment.master === master);
  }

  pairs(): readonly PairRow[] {
    return Array.from(this.#fees.committed("fee_pair"), pairOf);
  }

  credit(id: bigint): Values | undefined {
    return rowsWith(this.#fees, "payment_credit", "id", id)[0];
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

  /** Masters with results or closed weeks that the fee service has not read yet: after a rewind it may plan fees for them again. */
  unread(): readonly string[] {
    const read = new Map(
      Array.from(this.#fees.committed("fee_master"), (row) => [row["master_login"]!, row["read_number"] as bigint]),
    );
    const missing = this.#rows("allocation_entry").filter(
      (entry) => (entry["number"] as bigint) > (read.get(entry["master_login"]!) ?? 0n),
    );
    return [...new Set(missing.map((entry) => textOf(entry["master_login"]!)))];
  }

  /** Why fees of Masters are stopped, one reason for each stopped Master. */
  stops(): readonly string[] {
    const reasons = Array.from(this.#fees.committed("fee_master"), (row) => row["stopped_reason"]!);
    return reasons.filter((reason) => reason !== null).map(textOf);
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
    isImported: row["is_imported"] === true,
    takenMinor: row["amount_minor"] as bigint,
    debitDeal: row["deal_id"] as bigint | null,
    creditId: row["credit_id"] as bigint | null,
  };
}

export function pairOf(row: Values): PairRow {
  return {
    investor: textOf(row["investor_login"]!),
    master: textOf(row["master_login"]!),
    debtMinor: row["debt_minor"] as bigint,
    prepaidMinor: row["prepaid_minor"] as bigint,
    markE8: row["mark_e8"] as bigint,
  };
}

export function isOpenPayment({ status }: PaymentRow): boolean {
  return status === "PENDING" || status === "EXECUTING";
}
