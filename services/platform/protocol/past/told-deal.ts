import { usd } from "#kernel/money.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { NewEntry } from "../../domain/log-entry.ts";
import type { LoggedDeal } from "../../domain/logged-deal.ts";
import { told as toldState } from "../../domain/operation.ts";
import { findLoggedDeal } from "../../store/logged-deals.ts";
import type { RecordedOperation } from "../../store/operation-row.ts";
import { findOperationByDeal, findOperation } from "../../store/operations.ts";
import { causeOf } from "../history/deal-entries.ts";

export type ToldDeal = {
  readonly deal: LoggedDeal;
  /** The entry that the log lacks: a Master's own operation was applied, and no reading of the history has shown its deal. */
  readonly lacking: NewEntry | undefined;
};

/** What was told about a deal of a login: by its log, or by the answer of an operation of a Master. */
export async function findToldDeal(
  db: Queryable,
  server: string,
  login: string,
  ticket: bigint,
): Promise<ToldDeal | undefined> {
  const deal = await findLoggedDeal(db, server, login, ticket);
  if (deal !== undefined) return { deal, lacking: undefined };
  const number = await findOperationByDeal(db, server, ticket);
  const operation = number === undefined ? undefined : await findOperation(db, number);
  if (operation?.login !== login || toldState(operation.standing) !== "APPLIED") return undefined;
  return toldByAnswer(operation, ticket);
}

function toldByAnswer(operation: RecordedOperation, ticket: bigint): ToldDeal {
  const { login, amountMinor, createdAt, appliedAt: at = createdAt } = operation;
  const { kind } = operation.standing;
  const lacking = { kind, amount: usd(amountMinor), cause: causeOf(operation), at, trade: undefined };
  return {
    deal: {
      login,
      ticket,
      kind,
      amountMinor,
      at,
      serverMsc: undefined,
      trade: undefined,
      state: 0,
      correctedTo: undefined,
    },
    lacking: { ...lacking, deal: { id: ticket, serverMsc: undefined } },
  };
}
