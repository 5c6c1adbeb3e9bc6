import assert from "node:assert/strict";
import type { LegNumber } from "../domain/leg-number.ts";
import type { RefusalReason } from "../domain/leg.ts";
import type { Account } from "../store/accounts.ts";
import type { OrderedLeg, TransferOrder } from "./transfer-order.ts";

/** An order that is recorded, on the locked account of its first leg. */
export type NewLegs = {
  readonly order: TransferOrder;
  readonly requestId: string;
  readonly account: Account;
  /** Credited to the account after its floor was calculated. */
  readonly creditedMinor: bigint;
  /** Its amount was calculated in another generation of the permits. */
  readonly isOutdated: boolean;
};

/** A floor reduces both legs by the same amount. When no money is above it, the order is recorded as refused. */
export function draftLegs(newLegs: NewLegs, numbers: Iterator<LegNumber>) {
  const { order, account, requestId } = newLegs;
  const cutMinor = cutOf(newLegs);
  const refusal = refusalOf(newLegs, cutMinor);
  const { key, lockOwner, comment, isEnqueued, releasesLock, legs } = order;
  const draft = ({ login, kind, amountMinor: requestedMinor }: OrderedLeg, index: number) => {
    const isFirst = index === 0;
    const { value: number } = numbers.next();
    assert(number !== undefined, "a number is drawn for each new leg");
    const ordered = { kind, attempt: 0, absences: 0 };
    const status =
      refusal === undefined
        ? ({ ...ordered, state: "INTENT" } as const)
        : ({ ...ordered, state: "REFUSED", reason: refusal } as const);
    return {
      number,
      ordinal: index + 1,
      login,
      requestedMinor,
      amountMinor: isFirst ? cutMinor : -cutMinor,
      isReady: isFirst,
      status,
      dealId: undefined,
      appliedAt: undefined,
      refusal,
      platformCode: undefined,
      key,
      lockOwner,
      legCount: legs.length,
      comment,
      isEnqueued,
      releasesLock,
      requestId,
      isLate: false,
      isEarly: false,
      isOutdated: false,
      createdAt: account.seenAt,
      changedAt: account.seenAt,
    };
  };
  const [first, ...rest] = legs;
  return [draft(first, 0), ...rest.map((leg, index) => draft(leg, index + 1))] as const;
}

/** Why nothing of the order will be sent, if that is known already. */
function refusalOf(
  { order: { sendBefore }, account: { seenAt }, isOutdated }: NewLegs,
  cutMinor: bigint,
): RefusalReason | undefined {
  if (isOutdated) return "outdated";
  if (cutMinor === 0n) return "nothing_to_take";
  return sendBefore !== undefined && sendBefore <= seenAt ? "expired" : undefined;
}

/** The amount of the first leg: a debit (negative) is cut to what is available above the floor. */
function cutOf({ order: { legs, floorMinor }, account: { logBalance }, creditedMinor }: NewLegs): bigint {
  const { amountMinor } = legs[0];
  if (floorMinor === undefined) return amountMinor;
  const availableMinor = logBalance.minor - floorMinor - creditedMinor;
  if (availableMinor <= 0n) return 0n;
  return -amountMinor > availableMinor ? -availableMinor : amountMinor;
}
