import type { Queryable } from "#kernel/postgres/query.ts";
import type { Deal } from "../../mt5/deals.ts";
import { dealDifference } from "./deal-difference.ts";
import type { DealDifference } from "./deal-difference.ts";
import { findToldDeal } from "./told-deal.ts";

/** What a correction would write, for those who decide: they mean exactly this one. */
export type CorrectionEvidence = { readonly correction_minor: string; readonly now_shown: string };

type About = { readonly login: string; readonly ticket: bigint; readonly shown: Deal | undefined };

export async function correctionEvidence(db: Queryable, server: string, about: About): Promise<CorrectionEvidence> {
  const told = await findToldDeal(db, server, about.login, about.ticket);
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
