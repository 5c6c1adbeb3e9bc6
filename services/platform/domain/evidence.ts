import type { ReviewReason } from "./leg.ts";
import { formatReference, readReference, type Reference } from "./reference.ts";

/** The fields of a deal that count as evidence about a leg. */
export type EvidenceDeal = {
  readonly ticket: bigint;
  readonly login: string;
  /** Its effect on the balance. */
  readonly amountMinor: bigint;
  readonly isBalanceOperation: boolean;
  readonly comment: string;
  readonly atMs: number;
};

/** One permitted attempt, and the deal that it would produce. */
export type Expected = {
  readonly reference: Reference;
  readonly login: string;
  /** Signed. */
  readonly amountMinor: bigint;
  readonly permittedAtMs: number;
};

export type Verdict =
  | { readonly kind: "hit"; readonly ticket: bigint }
  /** A deal carries the reference, but differs from the transfer order. */
  | { readonly kind: "mismatch"; readonly reason: ReviewReason; readonly tickets: readonly bigint[] }
  /** No deal with the reference, but deals of another attempt of the leg, or that may be of this service with a rewritten comment. */
  | { readonly kind: "candidates"; readonly tickets: readonly bigint[] }
  | { readonly kind: "clean" };

/** A candidate may be dated this much before its permit: one hour for daylight saving changes, five minutes for clocks. */
export const FINGERPRINT_BEFORE_MS = 65 * 60_000;

/**
 * Judges one complete read of a login's history. `isExplained` is true for a ticket that the log, an adoption or another
 * leg accounts for. A deal of another login is no evidence.
 */
export function judgeDeals(
  expected: Expected,
  deals: readonly EvidenceDeal[],
  isExplained: (ticket: bigint) => boolean,
): Verdict {
  const own = deals.filter(({ login }) => login === expected.login);
  const referenced = own.filter(({ comment }) => isReference(comment, expected.reference));
  const [hit] = referenced;
  if (hit !== undefined) return judgeReferenced(expected, hit, referenced);

  // A deal of another attempt is never explained away: an earlier one came late, or the database has lost a later one.
  const candidates = own.filter(
    (deal) => isOfLeg(expected, deal) || (isCandidate(expected, deal) && !isExplained(deal.ticket)),
  );
  return candidates.length === 0 ? { kind: "clean" } : { kind: "candidates", tickets: ticketsOf(candidates) };
}

function judgeReferenced(expected: Expected, hit: EvidenceDeal, referenced: readonly EvidenceDeal[]): Verdict {
  const reason = mismatchOf(expected, hit, referenced);
  return reason === undefined
    ? { kind: "hit", ticket: hit.ticket }
    : { kind: "mismatch", reason, tickets: ticketsOf(referenced) };
}

function mismatchOf(
  expected: Expected,
  hit: EvidenceDeal,
  referenced: readonly EvidenceDeal[],
): ReviewReason | undefined {
  if (new Set(ticketsOf(referenced)).size > 1) return "two_deals";
  if (!hit.isBalanceOperation) return "not_a_balance_deal";
  return hit.amountMinor === expected.amountMinor ? undefined : "amount_differs";
}

function isOfLeg({ reference }: Expected, { comment }: EvidenceDeal): boolean {
  return readReference(comment)?.number === reference.number;
}

/** A deal with the reference of another leg is accounted for by that reference. */
function isCandidate({ amountMinor, permittedAtMs }: Expected, deal: EvidenceDeal): boolean {
  return (
    deal.isBalanceOperation &&
    deal.amountMinor === amountMinor &&
    deal.atMs >= permittedAtMs - FINGERPRINT_BEFORE_MS &&
    readReference(deal.comment) === undefined
  );
}

function isReference(comment: string, reference: Reference): boolean {
  const found = readReference(comment);
  return found !== undefined && formatReference(found) === formatReference(reference);
}

function ticketsOf(deals: readonly EvidenceDeal[]): bigint[] {
  return deals.map(({ ticket }) => ticket);
}
