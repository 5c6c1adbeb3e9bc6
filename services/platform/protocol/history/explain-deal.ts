import { type Deal, DEAL_ACTION, effectOf, isBalanceOperation } from "../../mt5/deals.ts";
import type { RecordedLeg } from "../../store/leg-row.ts";
import { accepts } from "../../domain/leg-machine.ts";
import { isUnderWay, type LegEvent, type ReviewReason } from "../../domain/leg.ts";
import type { Reference } from "../../domain/reference.ts";

/** What is recorded about a deal that is in no log yet. */
export type DealRecords = {
  /** The leg whose deal it is, by its ticket. */
  readonly byTicket: RecordedLeg | undefined;
  /** The reference at the beginning of its comment, and the leg that it names, if there is one. */
  readonly reference: Reference | undefined;
  readonly byReference: RecordedLeg | undefined;
  /** Legs of the login with an unknown outcome. */
  readonly underWay: readonly RecordedLeg[];
};

export type Explanation =
  /** It does not change the balance. */
  | { readonly kind: "no_effect" }
  | { readonly kind: "trade" }
  /** The deal of a leg that is applied already. */
  | { readonly kind: "own"; readonly leg: RecordedLeg }
  /** The deal of a leg whose outcome was unknown until now. */
  | { readonly kind: "applies"; readonly leg: RecordedLeg; readonly event: LegEvent; readonly isPermitLost?: true }
  /**
   * External or unmatched, but booked: it changed the balance. `finding` is for manual review, `event` for the leg. `isPermitLost`: the deal is of
   * a later attempt of the leg than the last one that is recorded, which proves that the database has lost commits.
   */
  | {
      readonly kind: "external";
      readonly finding?: UnmatchedReason;
      readonly leg?: RecordedLeg;
      readonly event?: LegEvent;
      readonly isPermitLost?: true;
    }
  /** It may belong to this leg, whose outcome has to be decided first. */
  | { readonly kind: "undecided"; readonly leg: RecordedLeg; readonly misfit?: ReviewReason };

export type UnmatchedReason = "external_funds" | "unknown_reference" | "unmatched_deal" | "misplaced_reference";

const { credit, bonus, buyCanceled, sellCanceled, compensationCredit } = DEAL_ACTION;
const WITHOUT_EFFECT = new Set<number>([credit, bonus, compensationCredit]);
const CANCELED = new Set<number>([buyCanceled, sellCanceled]);

/** The platform cancelled a deal after it was recorded: an amendment, which needs manual review. */
export function isCanceled({ action }: Pick<Deal, "action">): boolean {
  return CANCELED.has(action);
}

/** Credit is not balance, and a cancelled deal is no movement. */
export function isWithoutEffect(deal: Pick<Deal, "action">): boolean {
  return WITHOUT_EFFECT.has(deal.action) || isCanceled(deal);
}

/** Which balance operations of a dealer on a Master are results of its pool: by their action, or by a prefix of their comment. */
export type ResultRules = { readonly actions: readonly number[]; readonly comments: readonly string[] };

export const NO_RESULT_RULES: ResultRules = { actions: [], comments: [] };

/** Classifies a deal of the history. By ticket first, because a comment can be cut or rewritten. */
export function explainDeal(deal: Deal, records: DealRecords, rules: ResultRules = NO_RESULT_RULES): Explanation {
  if (isWithoutEffect(deal)) return { kind: "no_effect" };
  if (!isBalanceOperation(deal)) return { kind: "trade" };
  // A server that lost its last deals assigns their tickets again, possibly on another login.
  if (records.byTicket?.login === deal.login) return { kind: "own", leg: records.byTicket };
  if (records.reference !== undefined) return explainReferenced(deal, records.reference, records.byReference);
  const candidate = records.underWay.find(({ amountMinor }) => amountMinor === effectOf(deal));
  if (candidate !== undefined) return { kind: "undecided", leg: candidate };
  return isResult(deal, rules) ? { kind: "trade" } : { kind: "external", finding: "external_funds" };
}

function isResult({ action, comment }: Deal, { actions, comments }: ResultRules): boolean {
  return actions.includes(action) || comments.some((prefix) => comment.startsWith(prefix));
}

function explainReferenced(deal: Deal, { attempt, kind }: Reference, leg: RecordedLeg | undefined): Explanation {
  if (leg === undefined) return { kind: "external", finding: "unknown_reference" };
  if (leg.login !== deal.login || leg.status.kind !== kind) {
    return { kind: "external", finding: "misplaced_reference", leg };
  }
  const { status } = leg;
  if (attempt > status.attempt) return explainLater(deal, attempt, leg);
  const event: LegEvent = { type: "applied", attempt, ticket: deal.ticket };
  const unmatched: Explanation = { kind: "external", finding: "unmatched_deal", leg, event };
  if (!isUnderWay(status) || status.attempt !== attempt) return unmatched;
  if (!accepts(status, "applied")) return { kind: "undecided", leg };
  const misfit = misfitOf(deal, leg);
  return misfit === undefined ? { kind: "applies", leg, event } : { kind: "undecided", leg, misfit };
}

/** The database has lost the permit of the attempt. It is booked at once, so that the deal is seen only once as a proof of lost commits. */
function explainLater(deal: Deal, attempt: number, leg: RecordedLeg): Explanation {
  const { ticket } = deal;
  if (accepts(leg.status, "lost_permit_applied") && misfitOf(deal, leg) === undefined) {
    return { kind: "applies", leg, event: { type: "lost_permit_applied", attempt, ticket }, isPermitLost: true };
  }
  const event = { type: "applied", attempt, ticket } as const;
  return { kind: "external", finding: "unmatched_deal", leg, event, isPermitLost: true };
}

/** Of any type of balance operation: the setting of types may have changed since the leg was sent. */
function misfitOf(deal: Deal, leg: RecordedLeg): ReviewReason | undefined {
  return leg.amountMinor === effectOf(deal) ? undefined : "amount_differs";
}
