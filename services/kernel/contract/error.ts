import { Error as ErrorMessage, Outcome, RefusalStatus as StatusMessage } from "#proto/pamm/common/v1/error.ts";
import { Refusal, type RefusalOutcome, type RefusalStatus } from "../values/refusal.ts";

const STATUS: Readonly<Record<RefusalStatus, StatusMessage>> = {
  invalid: StatusMessage.INVALID,
  not_found: StatusMessage.NOT_FOUND,
  conflict: StatusMessage.CONFLICT,
  unavailable: StatusMessage.UNAVAILABLE,
  rejected: StatusMessage.REJECTED,
  unknown_outcome: StatusMessage.UNKNOWN_OUTCOME,
  forbidden: StatusMessage.FORBIDDEN,
  busy: StatusMessage.BUSY,
  internal: StatusMessage.INTERNAL,
};
const STATUS_BY_NUMBER = new Map(
  Object.entries(STATUS).map(([status, number]) => [number, status as RefusalStatus] as const),
);
const OUTCOME: Readonly<Record<RefusalOutcome, Outcome>> = {
  not_executed: Outcome.NOT_EXECUTED,
  unknown: Outcome.UNKNOWN,
};

export function encodeRefusal(refusal: Refusal): Uint8Array {
  return ErrorMessage.encode(refusalToProto(refusal)).finish();
}

export function decodeRefusal(bytes: Uint8Array): Refusal {
  return refusalFromProto(ErrorMessage.decode(bytes));
}

/** For responses that contain refusals of single items. */
export function refusalToProto(refusal: Refusal): ErrorMessage {
  return {
    code: refusal.code,
    status: STATUS[refusal.status],
    message: refusal.message,
    details: { ...refusal.details },
    errors: refusal.errors.map((error) => ({ ...error })),
    outcome: refusal.outcome === undefined ? Outcome.UNSPECIFIED : OUTCOME[refusal.outcome],
    operationId: refusal.operationId ?? "",
    retryAfterMs: BigInt(Math.ceil(refusal.retryAfterMs ?? 0)),
  };
}

/** A status that only a newer peer knows is read as a fault. */
export function refusalFromProto(error: ErrorMessage): Refusal {
  const { code, status, message, details, errors, outcome, operationId, retryAfterMs } = error;
  return new Refusal({
    code,
    status: STATUS_BY_NUMBER.get(status) ?? "internal",
    message,
    details,
    errors,
    outcome: readOutcome(outcome),
    operationId: operationId === "" ? undefined : operationId,
    retryAfterMs: retryAfterMs === 0n ? undefined : Number(retryAfterMs),
  });
}

function readOutcome(outcome: Outcome): RefusalOutcome | undefined {
  if (outcome === Outcome.NOT_EXECUTED) return "not_executed";
  return outcome === Outcome.UNSPECIFIED ? undefined : "unknown";
}
