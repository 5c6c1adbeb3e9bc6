import { MAX_AMOUNT } from "#kernel/values/money.ts";
import type { FieldError } from "#kernel/values/refusal.ts";
import type { TransferLeg, TransferRequest } from "#proto/pamm/platform/v1/platform.ts";
import { refuse } from "../refusals.ts";
import { kindFromProto } from "./history/account-moved.ts";
import { isReserved } from "../domain/imported-leg.ts";
import { allowsAmount, LEG_KINDS, type LegKind } from "../domain/leg-kind.ts";
import { readReference } from "../domain/reference.ts";
import { isRequestKey, MAX_KEY_LENGTH } from "../domain/request-key.ts";

/** A validated transfer request. */
export type TransferOrder = {
  readonly key: string;
  /** Empty outside an account lock. */
  readonly lockOwner: string;
  readonly legs: readonly [OrderedLeg, ...OrderedLeg[]];
  /** Cuts the first debit to the balance above this floor, in cents. */
  readonly floorMinor: bigint | undefined;
  /** Number of the last entry of the log that the floor was calculated from. */
  readonly floorNumber: bigint | undefined;
  readonly isEnqueued: boolean;
  /** The account lock ends with the transfer. */
  readonly releasesLock: boolean;
  readonly sendBefore: Date | undefined;
  readonly comment: string;
  /** Of the permits, in which the amount was calculated. */
  readonly generation: bigint | undefined;
};

export type OrderedLeg = { readonly login: string; readonly kind: LegKind; readonly amountMinor: bigint };

/** Above the comment of a client, which has at most 255 characters; what does not fit the platform is cut. */
const MAX_COMMENT_LENGTH = 1_000;
const LOGIN = /^[1-9]\d{0,17}$/;
const CONTROL = /\p{Cc}/u;

/** Validates a request; the refusal lists all errors. */
export function readTransferOrder(request: TransferRequest): TransferOrder {
  const errors: FieldError[] = [];
  const reject = (field: string, code: string, message: string): void => {
    errors.push({ field, code, message: `${field} ${message}.` });
  };
  const legs = request.legs.map((leg, index) => readLeg(leg, `legs.${index}`, reject));
  const [first, ...rest] = legs.filter((leg) => leg !== undefined);
  const order: TransferOrder | undefined = first && {
    key: request.key,
    lockOwner: request.lockOwner,
    legs: [first, ...rest],
    floorMinor: request.upTo && (request.upTo.floor?.minorUnits ?? 0n),
    floorNumber: request.upTo?.filedNumber,
    isEnqueued: request.enqueue,
    releasesLock: request.releaseLock,
    sendBefore: request.sendBefore,
    comment: request.comment,
    generation: request.generation,
  };
  checkNames(request, reject);
  if (legs.length < 1 || legs.length > 2) reject("legs", "count", "must have one or two elements");
  if (order?.legs.length === legs.length) checkTogether(order, reject);
  if (order === undefined || errors.length > 0) {
    throw refuse("validation_failed", "The transfer is invalid.", { errors, outcome: "not_executed" });
  }
  return order;
}

/** Whether the order is refused rather than queued: after a wait its amount would be outdated, so the caller recalculates it. */
export function neverQueues({ legs, floorMinor }: TransferOrder): boolean {
  return floorMinor !== undefined || legs.some(({ kind }) => kind === "result");
}

type Reject = (field: string, code: string, message: string) => void;

function readLeg(leg: TransferLeg, field: string, reject: Reject): OrderedLeg | undefined {
  const { login, amount } = leg;
  const kind = legKindOf(leg);
  const amountMinor = amount?.minorUnits ?? 0n;
  if (!LOGIN.test(login)) reject(`${field}.login`, "format", "must be a login of decimal digits");
  if (kind === undefined) reject(`${field}.kind`, "unknown", "must be a kind that can be requested");
  if (amount === undefined || amount.currencyCode !== "USD") {
    reject(`${field}.amount`, "currency_not_supported", "must be an amount in USD");
  } else if (amountMinor > MAX_AMOUNT.minor || amountMinor < -MAX_AMOUNT.minor) {
    reject(`${field}.amount`, "too_large", "must be at most 1000000000.00");
  } else if (kind !== undefined && !allowsAmount(kind, amountMinor)) {
    reject(`${field}.amount`, "sign", `must have the sign of a ${kind}`);
  }
  return kind && { login, kind, amountMinor };
}

function legKindOf({ kind }: TransferLeg): LegKind | undefined {
  const known = kindFromProto(kind);
  return Object.keys(LEG_KINDS).find((name): name is LegKind => name === known);
}

function checkNames({ key, lockOwner, comment }: TransferRequest, reject: Reject): void {
  if (!isRequestKey(key)) reject("key", "format", `must have 1 to ${MAX_KEY_LENGTH} visible ASCII characters`);
  if (isReserved(key)) reject("key", "reserved", "must not begin like a key of an imported transfer");
  if (lockOwner !== "" && !isRequestKey(lockOwner)) {
    reject("lockOwner", "format", `must have at most ${MAX_KEY_LENGTH} visible ASCII characters`);
  }
  if (comment.length > MAX_COMMENT_LENGTH || CONTROL.test(comment)) {
    reject("comment", "format", `must have at most ${MAX_COMMENT_LENGTH} characters and no control characters`);
  }
  if (readReference(comment) !== undefined) {
    reject("comment", "reserved", "must not begin like a reference of this service");
  }
}

/** Two legs must be a debit and an equal credit, so that the debit can be reversed; a floor needs a debit. */
function checkTogether(order: TransferOrder, reject: Reject): void {
  const [first, second] = order.legs;
  if (second !== undefined && (first.amountMinor >= 0n || second.amountMinor !== -first.amountMinor)) {
    reject("legs", "balance", "must be a debit and a credit of the same amount");
  }
  if (second !== undefined && second.login === first.login) reject("legs", "login", "must have different logins");
  if (order.floorMinor !== undefined && first.amountMinor > 0n) reject("up_to", "sign", "must be used with a debit");
  if (order.releasesLock && (order.lockOwner === "" || order.legs.length !== 1)) {
    reject("release_lock", "contradiction", "must be used with an account lock and one leg");
  }
  if (order.isEnqueued && neverQueues(order)) reject("enqueue", "contradiction", "must be false for this transfer");
}
