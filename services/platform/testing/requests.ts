import { usd } from "#kernel/values/money.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { TransferRequest } from "#proto/pamm/platform/v1/platform.ts";
import type { LegKind } from "../domain/leg-kind.ts";
import { legNumber } from "../domain/leg-number.ts";
import { platformComment } from "../domain/reference.ts";

let lastNumber = 0;

export type LegOrder = { readonly login: string; readonly kind: MovementKind; readonly minor: bigint };

export function aTransfer(key: string, legs: readonly LegOrder[], own: Partial<TransferRequest> = {}): TransferRequest {
  return {
    key,
    lockOwner: "",
    legs: legs.map(({ login, kind, minor }) => ({ login, kind, amount: moneyOf(minor) })),
    upTo: undefined,
    enqueue: false,
    comment: "",
    sendBefore: undefined,
    releaseLock: false,
    ...own,
  };
}

export function aDeposit(login: string, minor: bigint, own: Partial<TransferRequest> = {}): TransferRequest {
  lastNumber += 1;
  return aTransfer(`funding:deposit:${lastNumber}`, [{ login, kind: MovementKind.DEPOSIT, minor }], own);
}

export function aWithdrawal(login: string, minor: bigint, own: Partial<TransferRequest> = {}): TransferRequest {
  lastNumber += 1;
  return aTransfer(`withdrawal:${lastNumber}`, [{ login, kind: MovementKind.WITHDRAWAL, minor: -minor }], own);
}

export function moneyOf(minor: bigint) {
  const { currency, minor: minorUnits } = usd(minor);
  return { currencyCode: currency, minorUnits };
}

/** The debit of a fee, and the credit that follows it. */
export function feeLegs(debited: string, credited: string, minor: bigint): LegOrder[] {
  return [
    { login: debited, kind: MovementKind.FEE_DEBIT, minor: -minor },
    { login: credited, kind: MovementKind.FEE_CREDIT, minor },
  ];
}

/** The comment of a deal that the platform shows of the first attempt of this leg, of which the database need not know. */
export function commentOf(kind: LegKind, number: bigint, text = ""): string {
  return platformComment({ kind, number: legNumber(number), attempt: 1 }, text);
}
