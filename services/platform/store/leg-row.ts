import assert from "node:assert/strict";
import { column, type Queryable, type Statement, withoutNulls } from "#kernel/postgres/query.ts";
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

/** The columns that make up the status of a leg. */
export type StatusRow = Pick<RecordedLeg, "refusal" | "platformCode" | "dealId"> & {
  readonly kind: LegKind;
  readonly state: LegState;
  readonly cameFrom: Exclude<LegState, "REVIEW"> | undefined;
  readonly review: ReviewReason | undefined;
  readonly attempt: number;
  readonly absences: number;
};

/** Columns of the status, and others, as their statement selects them. */
export function withStatus<Row extends StatusRow & { readonly number: bigint }>(row: Row) {
  const known = withoutNulls(row);
  const { refusal, platformCode, dealId } = known;
  const { kind, state, cameFrom, review, attempt, absences, ...others } = known;
  const outcome = { refusal, platformCode, dealId };
  const status = statusOf({ kind, state, cameFrom, review, attempt, absences, ...outcome });
  return { ...others, number: legNumber(row.number), status };
}

function statusOf({ kind, attempt, absences, state, ...row }: StatusRow): Leg {
  const kept = { kind, attempt, absences };
  switch (state) {
    case "INTENT":
    case "SENDING":
    case "UNKNOWN":
      return { ...kept, state };
    case "APPLIED":
      return { ...kept, state, ticket: present(row.dealId) };
    case "REFUSED": {
      const platformCode = row.platformCode === undefined ? {} : { platformCode: row.platformCode };
      return { ...kept, state, reason: present(row.refusal), ...platformCode };
    }
    case "REVIEW":
      return { ...kept, state, reason: present(row.review), cameFrom: present(row.cameFrom) };
  }
}

/** Check constraints keep these from being null. */
function present<T>(value: T | undefined): T {
  assert(value !== undefined);
  return value;
}

/** The numbers of legs that a statement selects. */
export async function listNumbers(db: Queryable, statement: Statement): Promise<LegNumber[]> {
  return (await column<bigint>(db, statement)).map(legNumber);
}
