import { moneyFromProto } from "#kernel/contract/money.ts";
import { type EntryOf, MalformedEntry, readEntry } from "#kernel/feed/decode-entry.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { MovementKind, TransferImported } from "#proto/pamm/platform/v1/movement.ts";
import { type ImportedCashflow, insertImported } from "../store/imported-cashflows.ts";

/** Records the operation of each deposit and withdrawal that a restored database had lost and that platform has imported. */
export const IMPORTS = {
  feed: "platform.imports",
  events: [TransferImported],
  async receive(tx: Transaction, entries: readonly EntryOf<typeof TransferImported>[]): Promise<void> {
    for (const entry of entries) await insertImported(tx, cashflowOf(entry));
  },
};

const ACTIONS: Partial<Readonly<Record<MovementKind, ImportedCashflow["action"]>>> = {
  [MovementKind.DEPOSIT]: "deposit",
  [MovementKind.WITHDRAWAL]: "withdraw",
};

function cashflowOf({ number, message }: EntryOf<typeof TransferImported>): ImportedCashflow {
  const { operationId, login, kind, amount, dealId, dealAt, comment } = message;
  const action = ACTIONS[kind];
  if (action === undefined || dealAt === undefined) throw new MalformedEntry(number, "it is no deposit or withdrawal");
  const { minor } = readEntry(number, () => moneyFromProto(amount));
  return { operationId, action, login, amountMinor: minor < 0n ? -minor : minor, comment, dealId, at: dealAt };
}
