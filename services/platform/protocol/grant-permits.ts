import type { Transaction } from "#kernel/postgres/transaction.ts";
import { isTurnOf } from "../domain/admission.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { accepts, applyEvent } from "../domain/leg-machine.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import type { LegEvent } from "../domain/leg.ts";
import { PERMIT_MS } from "../domain/permit.ts";
import { formatReference } from "../domain/reference.ts";
import type { Account } from "../store/accounts.ts";
import { insertAttempts, type NewAttempt } from "../store/attempts.ts";
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

/** A locked leg on a locked account, and the leg that has to end before it, if there is one. */
export type Candidate = {
  readonly account: Account;
  readonly leg: RecordedLeg;
  readonly behind: LegNumber | undefined;
  /** Undefined without a free session. */
  readonly permitHolder: PermitHolder | undefined;
};

/** The permit; "over" when the leg needs none any more. */
export type PermitAnswer = Permit | "wait" | "over";

type Granted = { readonly permit: Permit; readonly attempt: NewAttempt; readonly before: RecordedLeg };

/**
 * The only way into SENDING. Decides under the row locks of the accounts, so exactly one process may send, once, and no leg
 * bypasses an account lock. The answers are in the order of the candidates.
 */
export async function grantPermits(
  tx: Transaction,
  server: string,
  candidates: readonly Candidate[],
): Promise<PermitAnswer[]> {
  const answers: PermitAnswer[] = [];
  const granted: Granted[] = [];
  for (const candidate of candidates) {
    const decision = await decide(tx, server, candidate);
    if (typeof decision === "object") granted.push(decision);
    answers.push(typeof decision === "object" ? decision.permit : decision);
  }
  if (granted.length === 0) return answers;
  await saveSending(
    tx,
    granted.map(({ before }) => before),
  );
  await insertAttempts(
    tx,
    granted.map(({ attempt }) => attempt),
  );
  return answers;
}

async function decide(tx: Transaction, server: string, candidate: Candidate): Promise<Granted | "wait" | "over"> {
  const { account, leg, behind, permitHolder } = candidate;
  const { kind } = leg.status;
  if (!accepts(leg.status, "permit_granted") || !leg.isReady) return "over";
  if (isTooLate(leg)) return await end(tx, server, candidate, { type: "given_up", reason: "expired" });
  if (leg.isEarly) return "wait";
  const applicant = { kind, lockOwner: leg.lockOwner, number: leg.number };
  if (!isTurnOf(account, applicant, behind)) return "wait";
  const next = applyEvent(leg.status, { type: "permit_granted" });
  if (next.kind !== "move" || next.to.state !== "SENDING") {
    return await end(tx, server, candidate, { type: "permit_granted" });
  }
  if (permitHolder === undefined) return "wait";
  const { attempt } = next.to;
  const { epoch: senderEpoch, sessionId: session, grantedAtMs } = permitHolder;
  const reference = formatReference({ kind, number: leg.number, attempt });
  return {
    before: leg,
    attempt: { leg: leg.number, number: attempt, reference, senderEpoch, session, permitMs: PERMIT_MS },
    permit: { leg: { ...leg, status: next.to }, attempt, grantedAtMs },
  };
}

/** Ends a leg that may not be sent any more. */
async function end(tx: Transaction, server: string, { account, leg }: Candidate, event: LegEvent): Promise<"over"> {
  await recordTransition(tx, leg, event, { server, at: account.seenAt });
  return "over";
}

/**
 * An external leg that was never written may expire. An internal leg that was attempted does not expire, nor does a leg
 * that follows an applied one.
 */
function isTooLate({ isLate, ordinal, status }: RecordedLeg): boolean {
  return isLate && ordinal === 1 && (status.attempt === 0 || LEG_KINDS[status.kind].origin === "external");
}
