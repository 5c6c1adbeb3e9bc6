import { usd } from "#kernel/money.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Deal } from "../mt5/deals.ts";
import type { NewEntry } from "../domain/log-entry.ts";
import type { LoggedDeal } from "../domain/logged-deal.ts";
import { reportedState } from "../domain/leg.ts";
import { findLoggedDeal } from "../store/logged-deals.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { findLegByDeal, findLeg } from "../store/legs.ts";
import { causeOf } from "../protocol/history/deal-entries.ts";
import { dealDifference, type DealDifference } from "./deal-difference.ts";

export type RecordedDeal = {
  readonly deal: LoggedDeal;
  /** The entry that the log lacks: a leg of a Master was applied, and no read of the history has shown its deal yet. */
  readonly lacking: NewEntry | undefined;
};

/** Finds the record of a deal: in the log of the login, or in an applied leg of a Master. */
export async function findRecordedDeal(
  db: Queryable,
  server: string,
  login: string,
  ticket: bigint,
): Promise<RecordedDeal | undefined> {
  const deal = await findLoggedDeal(db, server, login, ticket);
  if (deal !== undefined) return { deal, lacking: undefined };
  const number = await findLegByDeal(db, server, ticket);
  const leg = number === undefined ? undefined : await findLeg(db, number);
  if (leg?.login !== login || reportedState(leg.status) !== "APPLIED") return undefined;
  return recordedByAnswer(leg, ticket);
}

function recordedByAnswer(leg: RecordedLeg, ticket: bigint): RecordedDeal {
  const { login, amountMinor, createdAt, appliedAt: at = createdAt } = leg;
  const { kind } = leg.status;
  const lacking = { kind, amount: usd(amountMinor), cause: causeOf(leg), at, trade: undefined };
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

/** The correction as the evidence of a review: votes are about exactly this one. */
type CorrectionEvidence = { readonly correction_minor: string; readonly now_shown: string };

type AmendedDeal = { readonly login: string; readonly ticket: bigint; readonly shown: Deal | undefined };

export async function correctionEvidence(
  db: Queryable,
  server: string,
  amended: AmendedDeal,
): Promise<CorrectionEvidence> {
  const recorded = await findRecordedDeal(db, server, amended.login, amended.ticket);
  return evidenceOf(dealDifference(amended, recorded?.deal, amended.shown));
}

export function evidenceOf({ amountMinor, nowShown }: DealDifference): CorrectionEvidence {
  return { correction_minor: String(amountMinor), now_shown: nowShown };
}

/** Whether the evidence of a review describes exactly this correction. */
export function isAbout(evidence: string, difference: DealDifference): boolean {
  const known = JSON.parse(evidence) as Partial<CorrectionEvidence>;
  const { correction_minor: amount, now_shown: shown } = evidenceOf(difference);
  return known.correction_minor === amount && known.now_shown === shown;
}
