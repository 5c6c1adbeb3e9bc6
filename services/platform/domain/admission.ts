import { LEG_KINDS, type LegKind } from "./leg-kind.ts";
import type { LegNumber } from "./leg-number.ts";

/** What a login's row says about who may move money on it. */
export type LoginState = {
  /** Facts are being read: no permit is granted. */
  readonly isBeingRead: boolean;
  /** Legs with a lower number were recorded before the lock. */
  readonly accountLock: { readonly lockOwner: string; readonly number: bigint } | undefined;
};

/** A leg whose turn is asked for; an order that is not recorded yet has no number. */
export type Applicant = { readonly kind: LegKind; readonly lockOwner: string; readonly number?: LegNumber | undefined };

/**
 * The one rule of whose turn it is on a login: a leg that occupies its login is sent when no facts are being read, the account
 * lock admits it, and no leg has to end before it (`behind`).
 */
export function isTurnOf(login: LoginState, applicant: Applicant, behind: LegNumber | undefined): boolean {
  if (!LEG_KINDS[applicant.kind].exclusive) return true;
  return !login.isBeingRead && isAdmitted(login, applicant) && behind === undefined;
}

/** An account lock admits the legs of its own saga and those queued before it; an order without a number is not queued. */
function isAdmitted({ accountLock }: LoginState, { lockOwner, number }: Applicant): boolean {
  return (
    accountLock === undefined ||
    accountLock.lockOwner === lockOwner ||
    (number !== undefined && number < accountLock.number)
  );
}
