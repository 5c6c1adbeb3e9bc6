import assert from "node:assert/strict";
import type { LegKind } from "../domain/leg-kind.ts";
import { legNumber, type LegNumber } from "../domain/leg-number.ts";
import type { Leg, LegState, RefusalReason, ReviewReason } from "../domain/leg.ts";

/** A recorded leg: its order and its status. */
export type RecordedLeg = {
  readonly number: LegNumber;
  readonly transferId: bigint;
  /** 1 and 2 as ordered, 3 = reversal of 1. */
  readonly ordinal: number;
  readonly login: string;
  readonly requestedMinor: bigint;
  /** Signed; less than `requestedMinor` when a floor cut it. */
  readonly amountMinor: bigint;
  readonly isReady: boolean;
  readonly status: Leg;
  /** Ticket of its deal; kept during manual review. */
  readonly dealId: bigint | undefined;
  readonly appliedAt: Date | undefined;
  /** Kept during manual review. */
  readonly refusal: RefusalReason | undefined;
  readonly platformCode: number | undefined;
  /** Of its transfer. */
  readonly key: string;
  readonly lockOwner: string;
  readonly legCount: number;
  readonly comment: string;
  readonly isEnqueued: boolean;
  /** The account lock of its owner ends when the leg is applied. */
  readonly releasesLock: boolean;
  readonly requestId: string;
  /** The deadline of the first permit has passed, by the clock of the database. */
  readonly isLate: boolean;
  /** The pause after its last attempt has not ended. */
  readonly isEarly: boolean;
  /** Its amount was calculated in another generation of the permits: it is not sent. */
  readonly isOutdated: boolean;
  readonly createdAt: Date;
  /** When its status changed last. */
  readonly changedAt: Date;
};

export type LegRow = {
  number: bigint;
  transfer_id: bigint;
  ordinal: number;
  login: string;
  kind: LegKind;
  requested_minor: bigint;
  amount_minor: bigint;
  is_ready: boolean;
  state: LegState;
  came_from: Exclude<LegState, "REVIEW"> | null;
  refusal: RefusalReason | null;
  platform_code: number | null;
  review: ReviewReason | null;
  attempt: number;
  absences: number;
  deal_id: bigint | null;
  applied_at: Date | null;
  key: string;
  lock_owner: string;
  leg_count: number;
  comment: string;
  is_enqueued: boolean;
  releases_lock: boolean;
  request_id: string;
  is_late: boolean;
  is_early: boolean;
  is_outdated: boolean;
  created_at: Date;
  changed_at: Date;
};

export function legOf(row: LegRow): RecordedLeg {
  return {
    number: legNumber(row.number),
    transferId: row.transfer_id,
    ordinal: row.ordinal,
    login: row.login,
    requestedMinor: row.requested_minor,
    amountMinor: row.amount_minor,
    isReady: row.is_ready,
    status: statusOf(row),
    dealId: row.deal_id ?? undefined,
    appliedAt: row.applied_at ?? undefined,
    refusal: row.refusal ?? undefined,
    platformCode: row.platform_code ?? undefined,
    key: row.key,
    lockOwner: row.lock_owner,
    legCount: row.leg_count,
    comment: row.comment,
    isEnqueued: row.is_enqueued,
    releasesLock: row.releases_lock,
    requestId: row.request_id,
    isLate: row.is_late,
    isEarly: row.is_early,
    isOutdated: row.is_outdated,
    createdAt: row.created_at,
    changedAt: row.changed_at,
  };
}

/** The columns that make up the status of a leg. */
export type StatusRow = Pick<
  LegRow,
  "kind" | "state" | "came_from" | "refusal" | "platform_code" | "review" | "attempt" | "absences" | "deal_id"
>;

export function statusOf(row: StatusRow): Leg {
  const { kind, attempt, absences, state } = row;
  const kept = { kind, attempt, absences };
  switch (state) {
    case "INTENT":
    case "SENDING":
    case "UNKNOWN":
      return { ...kept, state };
    case "APPLIED":
      return { ...kept, state, ticket: present(row.deal_id) };
    case "REFUSED": {
      const platformCode = row.platform_code === null ? {} : { platformCode: row.platform_code };
      return { ...kept, state, reason: present(row.refusal), ...platformCode };
    }
    case "REVIEW":
      return { ...kept, state, reason: present(row.review), cameFrom: present(row.came_from) };
  }
}

/** Check constraints keep these from being null. */
function present<T>(value: T | null): T {
  assert(value !== null);
  return value;
}
