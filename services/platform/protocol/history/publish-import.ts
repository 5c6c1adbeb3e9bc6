import { v7 as uuidv7 } from "uuid";
import { moneyToProto } from "#kernel/contract/money.ts";
import { publish } from "#kernel/feed/publish.ts";
import { usd } from "#kernel/values/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { TransferImported } from "#proto/pamm/platform/v1/movement.ts";
import type { EntryKind } from "../../domain/log-entry.ts";
import { textOfComment } from "../../domain/reference.ts";
import { type Deal, effectOf } from "../../mt5/deals.ts";
import { setOperation } from "../../store/lost-movements.ts";
import { kindToProto } from "./account-moved.ts";

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
