import { readReference } from "../../domain/reference.ts";
import { type Deal, effectOf } from "../../mt5/deals.ts";
import type { RecordedLeg } from "../../store/leg-row.ts";

/** Circumstances of a review: the deal as the history shows it. */
export function dealEvidence(server: string, deal: Deal, leg: RecordedLeg | undefined) {
  const { ticket: dealId, comment, action, at } = deal;
  const evidence = {
    key: leg?.key,
    amount_minor: String(effectOf(deal)),
    comment,
    action,
    at: at.toISOString(),
    reference: referenceEvidence(comment),
    operation_state: leg?.status.state,
  };
  return { server, at, dealId, evidence };
}

/** The content of a reference, also for a leg that a restored database does not have. */
function referenceEvidence(comment: string): Readonly<Record<string, unknown>> | undefined {
  const reference = readReference(comment);
  return reference && { kind: reference.kind, number: String(reference.number), attempt: reference.attempt };
}
