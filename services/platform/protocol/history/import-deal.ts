import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { NewEntry } from "../../domain/log-entry.ts";
import {
  CALCULATED,
  IMPORTED,
  importedKey,
  importedOrdinal,
  isExclusive,
  isImportable,
  type LostDeal,
} from "../../domain/imported-leg.ts";
import { readReference } from "../../domain/reference.ts";
import { type Deal, effectOf, isBalanceOperation } from "../../mt5/deals.ts";
import type { Account } from "../../store/accounts.ts";
import { insertImportedLeg, listUnsent } from "../../store/imported-legs.ts";
import { lockLegs } from "../../store/legs.ts";
import { recordTransition } from "../record.ts";
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

/**
 * Ends unsent legs of the login whose amounts were calculated without the imported deals; the services calculate them again. After all deals that
 * one read has shown: one of them may be that of an unsent leg, whose permit the database has lost.
 */
export async function giveUpOutdated(
  tx: Transaction,
  server: string,
  login: string,
  entries: readonly NewEntry[],
): Promise<void> {
  const at = entries.findLast(({ kind, cause }) => isCalculated(kind) && cause?.key.startsWith(IMPORTED) === true)?.at;
  if (at === undefined) return;
  const unsent = await listUnsent(tx, login, CALCULATED);
  if (unsent.length === 0) return;
  for (const leg of await lockLegs(tx, unsent)) {
    await recordTransition(tx, leg, { type: "given_up", reason: "outdated" }, { server, at });
  }
}

function isCalculated(kind: NewEntry["kind"]): boolean {
  return CALCULATED.some((calculated) => calculated === kind);
}
