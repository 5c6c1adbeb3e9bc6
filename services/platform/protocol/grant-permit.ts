import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Account } from "../store/accounts.ts";
import { insertAttempts, type NewAttempt } from "../store/attempts.ts";
import { findObstacle } from "../store/queues.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { accepts } from "../domain/leg-machine.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { PERMIT_MS } from "../domain/permit.ts";
import { type Locked, recordTransition } from "./record.ts";
import type { Leg } from "../domain/leg.ts";
import { formatReference, type Reference } from "../domain/reference.ts";

/** The session of a process that gets the permit. `grantedAtMs` is monotonic and read before the transaction, so the permit expires before its row. */
export type PermitHolder = {
  readonly server: string;
  readonly epoch: bigint;
  readonly sessionId: string;
  readonly grantedAtMs: number;
};

/** The fields of a leg that a send needs. */
export type Sendable = Pick<RecordedLeg, "number" | "login" | "amountMinor" | "comment"> & {
  readonly status: Pick<Leg, "kind">;
};

/** The right to write one command once. */
export type Permit = {
  readonly leg: Sendable;
  readonly attempt: number;
  readonly grantedAtMs: number;
};

export type PermitAnswer =
  | { readonly kind: "granted"; readonly permit: Permit }
  /** No permit yet; `behind` is the leg that has to end first, if there is one. */
  | { readonly kind: "wait"; readonly behind: LegNumber | undefined }
  /** The leg needs no permit any more. */
  | { readonly kind: "over" };

/** Decides under the row lock of the account, so exactly one process may send, once, and no leg bypasses an account lock. */
export async function grantPermit(tx: Transaction, locked: Locked, permitHolder: PermitHolder): Promise<PermitAnswer> {
  const { account, leg } = locked;
  const { kind } = leg.status;
  if (!accepts(leg.status, "permit_granted") || !leg.isReady) return { kind: "over" };
  const circumstances = { server: permitHolder.server, at: account.seenAt };
  if (isTooLate(leg)) {
    await recordTransition(tx, leg, { type: "given_up", reason: "expired" }, circumstances);
    return { kind: "over" };
  }
  if (leg.isEarly) return { kind: "wait", behind: undefined };
  if (LEG_KINDS[kind].exclusive) {
    if (account.isBeingRead || !isAdmitted(account, leg)) return { kind: "wait", behind: undefined };
    const behind = await findObstacle(tx, {
      login: account.login,
      number: leg.number,
      accountLock: account.accountLock,
    });
    if (behind !== undefined) return { kind: "wait", behind };
  }
  const { status } = await recordTransition(tx, leg, { type: "permit_granted" }, circumstances);
  if (status.state !== "SENDING") return { kind: "over" };
  const { attempt } = status;
  await insertAttempts(tx, [newAttempt({ kind, number: leg.number, attempt }, permitHolder)]);
  return { kind: "granted", permit: { leg, attempt, grantedAtMs: permitHolder.grantedAtMs } };
}

/** The row of an attempt: its sender and its expiry. */
export function newAttempt(reference: Reference, { epoch: senderEpoch, sessionId: session }: PermitHolder): NewAttempt {
  const { number: leg, attempt: number } = reference;
  return { leg, number, reference: formatReference(reference), senderEpoch, session, permitMs: PERMIT_MS };
}

/** An account lock admits the legs of its own saga and those queued before it; an order without a number is not queued. */
export function isAdmitted(
  { accountLock }: Account,
  { lockOwner, number }: { readonly lockOwner: string; readonly number?: bigint },
): boolean {
  return (
    accountLock === undefined ||
    accountLock.lockOwner === lockOwner ||
    (number !== undefined && number < accountLock.number)
  );
}

/**
 * An external leg that was never written may expire. An internal leg that was attempted does not expire, nor does a leg
 * that follows an applied one.
 */
function isTooLate({ isLate, ordinal, status }: RecordedLeg): boolean {
  return isLate && ordinal === 1 && (status.attempt === 0 || LEG_KINDS[status.kind].origin === "external");
}
