import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { NewEntry } from "../../domain/log-entry.ts";
import { importedKey, importedOrdinal, isExclusive, isImportable, type LostDeal } from "../../domain/imported-leg.ts";
import { readReference } from "../../domain/reference.ts";
import { type Deal, effectOf, isBalanceOperation } from "../../mt5/deals.ts";
import type { Account } from "../../store/accounts.ts";
import { insertImportedLeg } from "../../store/imported-legs.ts";
import { externalEntry } from "./deal-entries.ts";

/**
 * Books a deal of this service whose leg the database has lost as what its reference says, so that the books equal the platform's
 * without a decision for each. Undefined when it does not fit: then operators decide.
 */
export async function importDeal(
  tx: Transaction,
  server: string,
  account: Account,
  deal: Deal,
): Promise<NewEntry | undefined> {
  const reference = readReference(deal.comment);
  if (reference === undefined || !isBalanceOperation(deal)) return undefined;
  const { kind, number, attempt } = reference;
  const { login, ticket: dealId, at, comment } = deal;
  const lost: LostDeal = { kind, amountMinor: effectOf(deal), comment };
  if (!isImportable(lost, account.role)) return undefined;
  const key = importedKey(lost, dealId);
  const leg = { ...lost, key, ordinal: importedOrdinal(kind), number, attempt, login, server, dealId, at };
  const transferId = await insertImportedLeg(tx, { ...leg, isExclusive: isExclusive(kind) });
  if (transferId === undefined) return undefined;
  return { ...externalEntry(deal), kind, label: undefined, cause: { leg: number, transferId, key } };
}
