import type { Transaction } from "#kernel/postgres/transaction.ts";
import { isTurnOf } from "../domain/admission.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { accepts, applyEvent } from "../domain/leg-machine.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import type { LegEvent, RefusalReason } from "../domain/leg.ts";
import { executedBefore } from "../domain/lost-movement.ts";
import { formatReference } from "../domain/reference.ts";
import type { Account } from "../store/accounts.ts";
import type { NewAttempt } from "../store/attempts.ts";
import { saveSending } from "../store/leg-transitions.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { recordTransition } from "./record.ts";

/** The session of a process that gets the permit. `grantedAtMs` is monotonic and read before the transaction, so the permit expires before its row. */
export type PermitHolder = {
  readonly epoch: bigint;
  readonly sessionId: string;
  readonly grantedAtMs: number;
};

/** The right to write one command once. The leg is as it was saved with the permit, in SENDING. */
export type Permit = { readonly leg: RecordedLeg; readonly attempt: number; readonly grantedAtMs: number };

/** A leg on a locked account, and the leg that has to end before it, if there is one. A new leg is not recorded yet. */
export type Candidate<Leg extends NewLeg> = Unsent & {
  readonly leg: Leg;
  readonly obstacle: LegNumber | undefined;
  /** Undefined without a free session. */
  readonly permitHolder: () => PermitHolder | undefined;
};

/** A leg without the id of its transfer. */
export type NewLeg = Omit<RecordedLeg, "transferId">;

/** A leg that was not sent, on a locked account; and whether permits are granted in this database. */
type Unsent = { readonly account: Account; readonly leg: NewLeg; readonly isGateOpen: boolean };

/** A permit as it is to be saved with its leg. */
export type Granted = {
  readonly status: Extract<RecordedLeg["status"], { state: "SENDING" }>;
  readonly attempt: NewAttempt;
  readonly grantedAtMs: number;
};

/** "over" when the leg needs no permit any more; `end` when it has to end without one. */
type PermitDecision = { readonly granted: Granted } | { readonly end: LegEvent } | "wait" | "over";

/**
 * The only way into SENDING. Decided under the row lock of the account, so exactly one process may send, once, and no leg
 * bypasses an account lock.
 */
export function decidePermit(candidate: Candidate<NewLeg>): PermitDecision {
  const { account, leg, obstacle } = candidate;
  const { kind } = leg.status;
  if (!accepts(leg.status, "permit_granted") || !leg.isReady) return "over";
  // Also not ended: its deal may be among those that are in no log yet.
  if (account.mayLackDeals) return "wait";
  if (leg.isOutdated) return endOrWait(candidate, "outdated");
  if (isTooLate(leg)) return endOrWait(candidate, "expired");
  if (leg.isEarly || isHeldBack(account, leg)) return "wait";
  const applicant = { kind, lockOwner: leg.lockOwner, number: leg.number };
  if (!isTurnOf(account, applicant, obstacle)) return "wait";
  if (isRepeated(candidate)) return endOrWait(candidate, "possible_duplicate");
  const event = { type: "permit_granted" } as const;
  const next = applyEvent(leg.status, event);
  if (next.kind !== "move" || next.to.state !== "SENDING") return { end: event };
  const permitHolder = candidate.permitHolder();
  if (permitHolder === undefined) return "wait";
  const { attempt: number } = next.to;
  const { epoch: senderEpoch, sessionId: session, grantedAtMs } = permitHolder;
  const reference = formatReference({ kind, number: leg.number, attempt: number });
  const attempt = { leg: leg.number, number, reference, senderEpoch, session };
  return { granted: { status: next.to, attempt, grantedAtMs } };
}

/**
 * The end of a leg without a permit; undefined while it has to wait. In a database whose history was not read, or has shown lost commits, the leg may have
 * been executed, and a process that was not stopped may not know yet that it is connected to such a one.
 */
export function endUnsent(unsent: Unsent, reason: RefusalReason): LegEvent | undefined {
  if (unsent.account.mayLackDeals || !unsent.isGateOpen) return undefined;
  return { type: "given_up", reason: isRepeated(unsent) ? "possible_duplicate" : reason };
}

function endOrWait(unsent: Unsent, reason: RefusalReason): PermitDecision {
  const end = endUnsent(unsent, reason);
  return end === undefined ? "wait" : { end };
}

/**
 * A deposit or withdrawal that was recorded before it was known that the database had lost an equal one is never sent, as an equal request is
 * not accepted any more.
 */
function isRepeated({ account, leg: { status, amountMinor, comment } }: Unsent): boolean {
  return executedBefore({ kind: status.kind, amountMinor, comment }, account.lost) !== undefined;
}

export function permitOf(leg: RecordedLeg, { status, attempt, grantedAtMs }: Granted): Permit {
  return { leg: { ...leg, status }, attempt: attempt.number, grantedAtMs };
}

/** The permit; "over" when the leg needs none any more. */
export type PermitAnswer = Permit | "wait" | "over";

/** Decides about recorded legs, which are locked. The answers are in the order of the candidates. */
export async function grantPermits(
  tx: Transaction,
  server: string,
  candidates: readonly Candidate<RecordedLeg>[],
): Promise<PermitAnswer[]> {
  const answers: PermitAnswer[] = [];
  const granted: NewAttempt[] = [];
  for (const candidate of candidates) {
    const { account, leg } = candidate;
    const decision = decidePermit(candidate);
    if (typeof decision === "string") {
      answers.push(decision);
    } else if ("end" in decision) {
      await recordTransition(tx, leg, decision.end, { server, at: account.seenAt });
      answers.push("over");
    } else {
      granted.push(decision.granted.attempt);
      answers.push(permitOf(leg, decision.granted));
    }
  }
  if (granted.length > 0) await saveSending(tx, granted);
  return answers;
}

/** On a stopped or archived account nothing begins. What follows an applied leg is sent, because its money is on the way. */
function isHeldBack({ isStopped, isArchived }: Account, { ordinal }: NewLeg): boolean {
  return (isStopped || isArchived) && ordinal === 1;
}

/**
 * An external leg that was never written may expire. An internal leg that was attempted does not expire, nor does a leg
 * that follows an applied one.
 */
function isTooLate({ isLate, ordinal, status }: NewLeg): boolean {
  return isLate && ordinal === 1 && (status.attempt === 0 || LEG_KINDS[status.kind].origin === "external");
}
