import { usd } from "#kernel/money.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Deal } from "../mt5/deals.ts";
import type { NewEntry } from "../domain/log-entry.ts";
import type { LoggedDeal } from "../domain/logged-deal.ts";
import { told as toldState } from "../domain/operation.ts";
import { findLoggedDeal } from "../store/logged-deals.ts";
import type { RecordedOperation } from "../store/operation-row.ts";
import { findOperationByDeal, findOperation } from "../store/operations.ts";
import { causeOf } from "../protocol/history/deal-entries.ts";
import { dealDifference, type DealDifference } from "./deal-difference.ts";

export type RecordedDeal = {
  readonly deal: LoggedDeal;
  /** The entry that the log lacks: a Master's own operation was applied, and no reading of the history has shown its deal. */
  readonly lacking: NewEntry | undefined;
};

/** What was told about a deal of a login: by its log, or by the answer of an operation of a Master. */
export async function findRecordedDeal(
  db: Queryable,
  server: string,
  login: string,
  ticket: bigint,
): Promise<RecordedDeal | undefined> {
  const deal = await findLoggedDeal(db, server, login, ticket);
  if (deal !== undefined) return { deal, lacking: undefined };
  const number = await findOperationByDeal(db, server, ticket);
  const operation = number === undefined ? undefined : await findOperation(db, number);
  if (operation?.login !== login || toldState(operation.status) !== "APPLIED") return undefined;
  return recordedByAnswer(operation, ticket);
}

function recordedByAnswer(operation: RecordedOperation, ticket: bigint): RecordedDeal {
  const { login, amountMinor, createdAt, appliedAt: at = createdAt } = operation;
  const { kind } = operation.status;
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

/** What a correction would write, for those who decide: they mean exactly this one. */
type CorrectionEvidence = { readonly correction_minor: string; readonly now_shown: string };

type About = { readonly login: string; readonly ticket: bigint; readonly shown: Deal | undefined };

export async function correctionEvidence(db: Queryable, server: string, about: About): Promise<CorrectionEvidence> {
  const told = await findRecordedDeal(db, server, about.login, about.ticket);
  return evidenceOf(dealDifference(about, told?.deal, about.shown));
}

export function evidenceOf({ amountMinor, nowShown }: DealDifference): CorrectionEvidence {
  return { correction_minor: String(amountMinor), now_shown: nowShown };
}

/** Whether a review, by its evidence, is about this very correction. */
export function isAbout(evidence: string, difference: DealDifference): boolean {
  const asked = JSON.parse(evidence) as Partial<CorrectionEvidence>;
  const { correction_minor: amount, now_shown: shown } = evidenceOf(difference);
  return asked.correction_minor === amount && asked.now_shown === shown;
}
