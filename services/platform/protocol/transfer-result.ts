import assert from "node:assert/strict";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { type TransferLegResult, type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { kindToProto } from "./history/account-moved.ts";
import { type Leg, outcomeOf, type RefusalReason } from "../domain/leg.ts";
import { formatReference } from "../domain/reference.ts";

const REVERSAL = 3;
const { PENDING, UNKNOWN, APPLIED, REFUSED, REVIEW } = TransferState;

type Refused = { readonly code: string; readonly platformCode: number };

/** The result of the key of these legs, now and for every repetition. A reported result is final, also during manual review. */
export function transferResult(legs: readonly RecordedLeg[]): TransferResult {
  const [first] = legs;
  assert(first !== undefined, "a transfer has a leg");
  const { transferId, key } = first;
  const state = stateOf(legs);
  const { code, platformCode } = state === REFUSED ? refusalOf(legs) : { code: "", platformCode: 0 };
  return { transferId, key, state, refusalCode: code, platformCode, legs: legs.map(legResult) };
}

function stateOf(legs: readonly RecordedLeg[]): TransferState {
  const states = legs.map(({ status }) => legState(status));
  const requested = legs.filter(({ ordinal }) => ordinal !== REVERSAL).map(({ status }) => legState(status));
  const reversal = legs.find(({ ordinal }) => ordinal === REVERSAL);
  if (states.includes(REVIEW)) return REVIEW;
  if (states.includes(UNKNOWN)) return UNKNOWN;
  if (reversal !== undefined) return reversalState(legState(reversal.status));
  if (requested[0] === REFUSED) return REFUSED;
  // No reversal was created for the debit, because its deal is, or was, in manual review.
  if (requested.includes(REFUSED)) return REVIEW;
  return requested.every((state) => state === APPLIED) ? APPLIED : PENDING;
}

/** A reversed debit counts as refused; a debit whose reversal was refused needs manual review. */
function reversalState(state: TransferState): TransferState {
  if (state === APPLIED) return REFUSED;
  return state === REFUSED ? REVIEW : PENDING;
}

function refusalOf(legs: readonly RecordedLeg[]): Refused {
  const [first, second] = legs;
  const platformCode = second?.status.attempt === 0 ? first?.platformCode : (second ?? first)?.platformCode;
  const code = legs.some(({ ordinal }) => ordinal === REVERSAL) ? "credit_refused" : codeOf(first?.refusal);
  return { code, platformCode: platformCode ?? 0 };
}

/** A refusal that operators decided has the same code as a proven absence. */
function codeOf(reason: RefusalReason | undefined): string {
  return reason === undefined || reason === "decided" ? "absent" : reason;
}

function legResult(leg: RecordedLeg): TransferLegResult {
  const { number, login, amountMinor, status, dealId, appliedAt } = leg;
  const { kind, attempt } = status;
  return {
    login,
    kind: kindToProto(kind),
    amount: moneyToProto(usd(amountMinor)),
    state: legState(status),
    dealId: dealId ?? 0n,
    reference: attempt === 0 ? "" : formatReference({ kind, number, attempt }),
    appliedAt,
    number,
  };
}

function legState(status: Leg): TransferState {
  switch (outcomeOf(status)) {
    case "APPLIED":
      return APPLIED;
    case "REFUSED":
      return REFUSED;
    case "PENDING":
      return PENDING;
    case "UNKNOWN":
      return status.state === "REVIEW" ? REVIEW : UNKNOWN;
  }
}
