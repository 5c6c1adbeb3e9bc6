import type { LegNumber } from "../domain/leg-number.ts";
import type { RefusalReason } from "../domain/leg.ts";
import type { Account } from "../store/accounts.ts";
import type { TransferOrder } from "./transfer-order.ts";

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
  const { key, lockOwner, comment, isEnqueued, releasesLock, legs } = order;
  return legs.map(({ login, kind, amountMinor: requestedMinor }, index) => {
    const isFirst = index === 0;
    const { value: number } = numbers.next() as IteratorResult<LegNumber, undefined>;
    if (number === undefined) throw new Error("a new leg has no number");
    const refusal = refusalOf(newLegs, cutMinor);
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
  });
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

function cutOf({ order: { legs, floorMinor }, account: { logBalance }, creditedMinor }: NewLegs): bigint {
  const requestedMinor = legs[0]?.amountMinor ?? 0n;
  return floorMinor === undefined ? requestedMinor : cut(requestedMinor, logBalance.minor - floorMinor - creditedMinor);
}

/** Cuts a debit (negative) to the available amount. */
function cut(debitMinor: bigint, availableMinor: bigint): bigint {
  if (availableMinor <= 0n) return 0n;
  return -debitMinor > availableMinor ? -availableMinor : debitMinor;
}
