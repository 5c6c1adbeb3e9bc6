import { SECOND_MS } from "#kernel/values/duration.ts";
import { LEG_KINDS, type LegKind } from "./leg-kind.ts";
import type { LegNumber } from "./leg-number.ts";

/** What a login's row says about who may move money on it. */
export type LoginState = {
  /** Facts are being read: no permit is granted. */
  readonly isBeingRead: boolean;
  /** A deal that is in no log yet may be that of a leg whose permit the database has lost. */
  readonly mayLackDeals: boolean;
  /** Legs with a number below `admitsBefore` were recorded before the lock, which waits for them; 0 once it is granted. */
  readonly accountLock: { readonly lockOwner: string; readonly admitsBefore: bigint } | undefined;
};

/** A leg whose turn is asked for; an order that is not recorded yet has no number. */
export type Applicant = { readonly kind: LegKind; readonly lockOwner: string; readonly number?: LegNumber | undefined };

/**
 * The one rule of whose turn it is on a login: no leg is sent while it may have been sent before, unknown to the database. Otherwise a leg that
 * occupies its login is sent when no facts are being read, the account lock admits it, and no leg has to end before it (`obstacle`).
 */
export function isTurnOf(login: LoginState, applicant: Applicant, obstacle: LegNumber | undefined): boolean {
  if (login.mayLackDeals) return false;
  if (!LEG_KINDS[applicant.kind].exclusive) return true;
  return !login.isBeingRead && isAdmitted(login, applicant) && obstacle === undefined;
}

/**
 * An account lock admits the legs of its own saga and, until it is granted, those queued before it; an order without a number is not queued. A reversal
 * draws its number without the lock of this account, so it may be below that of a lock that was granted meanwhile.
 */
function isAdmitted({ accountLock }: LoginState, { lockOwner, number }: Applicant): boolean {
  return (
    accountLock === undefined ||
    accountLock.lockOwner === lockOwner ||
    (number !== undefined && number < accountLock.admitsBefore)
  );
}

/** Legs that were just decided leave their deals unfiled for a moment. */
const FILED_WITHIN_MS = 10 * SECOND_MS;

/** Since when deals of a login are in no log, and when its row was read. */
export type UnfiledDeals = { readonly undecidedFrom: Date | undefined; readonly seenAt: Date };

/**
 * Whether deals of the login could not be filed for a while, although no leg of it is open. One of them may be the same deposit, whose
 * record the database has lost. Account locks are not granted on such a login either.
 */
export function lacksDeposits(
  { undecidedFrom, seenAt }: UnfiledDeals,
  kind: LegKind,
  obstacle: LegNumber | undefined,
): boolean {
  if (kind !== "deposit" || obstacle !== undefined || undecidedFrom === undefined) return false;
  return seenAt.getTime() - undecidedFrom.getTime() > FILED_WITHIN_MS;
}
