import type { FastifyRequest } from "fastify";
import type { AuditEntry } from "./audit.ts";
import { auditEntry } from "./audit-entry.ts";

/** The vote of an operator; the review is named as operators name it. */
export type AuditedVote = { readonly reviewId: string; readonly action: string };

/** Distinguishes a vote from the request that it belongs to. */
export const VOTE = "VOTE";
/** Accepted: the service of the review has not answered yet. */
const ACCEPTED = 202;

/** The vote as the audit has it: the review is its operation, the action its code. */
export function voteEntry(request: FastifyRequest, { reviewId, action }: AuditedVote): AuditEntry {
  return { ...auditEntry(request, ACCEPTED), method: VOTE, operationId: reviewId, code: action };
}
