import { v7 as uuidv7 } from "uuid";
import { moneyToProto } from "#kernel/contract/money.ts";
import { publish } from "#kernel/feed/publish.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { usd } from "#kernel/values/money.ts";
import { TransferImported } from "#proto/pamm/platform/v1/movement.ts";
import type { EntryKind, NewEntry } from "../../domain/log-entry.ts";
import { importedKey, importedOrdinal, isExclusive, isImportable, type LostDeal } from "../../domain/imported-leg.ts";
import { readReference, textOfComment } from "../../domain/reference.ts";
import { type Deal, effectOf, isBalanceOperation } from "../../mt5/deals.ts";
import type { Account } from "../../store/accounts.ts";
import { insertImportedLeg } from "../../store/imported-legs.ts";
import { setOperation } from "../../store/lost-movements.ts";
import { kindToProto } from "./account-moved.ts";
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

export const IMPORTS_FEED = "platform.imports";

/**
 * Names the operation of an imported deposit or withdrawal, in the commit that imports it: the service that lists operations has lost
 * its record as well. A refusal of a repeated request names the same one.
 */
export async function publishImport(tx: Transaction, server: string, deal: Deal, kind: EntryKind): Promise<void> {
  if (kind !== "deposit" && kind !== "withdrawal") return;
  const { login, ticket: dealId, at: dealAt, comment } = deal;
  // Operations are listed by their ids: the time of the deal puts it where it was.
  const operationId = uuidv7({ msecs: dealAt.getTime() });
  await setOperation(tx, server, dealId, operationId);
  publish(tx, {
    feed: IMPORTS_FEED,
    event: TransferImported,
    message: {
      operationId,
      login,
      kind: kindToProto(kind),
      amount: moneyToProto(usd(effectOf(deal))),
      dealId,
      dealAt,
      comment: textOfComment(comment),
    },
  });
}
