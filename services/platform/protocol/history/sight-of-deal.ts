import type { Deal } from "../../mt5/deals.ts";
import type { RecordedOperation } from "../../store/operation-row.ts";
import { effectOf } from "./explain-deal.ts";
import { readReference } from "../../domain/reference.ts";

/** What the history shows, for the person who has to look. */
export function sightOf(server: string, deal: Deal, operation: RecordedOperation | undefined) {
  const { ticket: dealId, comment, action, at } = deal;
  const evidence = {
    key: operation?.key,
    amount_minor: String(effectOf(deal)),
    comment,
    action,
    at: at.toISOString(),
    reference: referenceEvidence(comment),
    operation_state: operation?.status.state,
  };
  return { server, at, dealId, evidence };
}

/** Everything that a reference tells, also about an operation that a database of before has forgotten. */
function referenceEvidence(comment: string): Readonly<Record<string, unknown>> | undefined {
  const reference = readReference(comment);
  return reference && { kind: reference.kind, number: String(reference.number), attempt: reference.attempt };
}
