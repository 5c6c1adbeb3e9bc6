import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type Refusal, BUSY_RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { isTurnOf } from "../domain/admission.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { refuse } from "../refusals.ts";
import type { Account } from "../store/accounts.ts";
import { insertLegs, type NewLeg } from "../store/leg-transitions.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { type InsertedTransfer, insertTransfers, type Transfer } from "../store/transfers.ts";
import { neverQueues, type OrderedLeg, type TransferOrder } from "./transfer-order.ts";

export type NewOrder = { readonly order: TransferOrder; readonly requestId: string };

/** What is known about the logins of some orders while the accounts of their first legs are locked. */
export type LockedLogins = {
  /** The accounts of first legs, by login. */
  readonly accounts: ReadonlyMap<string, Account>;
  /** Every login of the orders that is managed. */
  readonly managed: ReadonlySet<string>;
  /** The leg that has to end before a new one of the login. */
  readonly obstacles: ReadonlyMap<string, LegNumber>;
};

export type OrderAnswer =
  | { readonly kind: "recorded"; readonly transfer: Transfer; readonly legs: readonly RecordedLeg[] }
  /** Nothing was recorded. */
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** Another request has recorded the key before. */
  | { readonly kind: "taken" };

type Accepted = NewOrder & { readonly first: OrderedLeg; readonly account: Account };

/** Records orders with their legs, in the order given. The accounts stay locked until the commit, so the decision stays valid. */
export async function insertOrders(
  tx: Transaction,
  logins: LockedLogins,
  orders: readonly NewOrder[],
): Promise<OrderAnswer[]> {
  const judged = orders.map((each) => judge(logins, each));
  const accepted = judged.filter((each): each is Accepted => !("refusal" in each));
  const inserted = await insertAll(tx, accepted);
  return judged.map((each) => {
    if ("refusal" in each) return { kind: "refused", refusal: each.refusal };
    return inserted.get(each.order.key) ?? { kind: "taken" };
  });
}

function judge({ accounts, managed, obstacles }: LockedLogins, each: NewOrder): Accepted | { refusal: Refusal } {
  const { order } = each;
  const [first, ...rest] = order.legs;
  const account = first && accounts.get(first.login);
  if (first === undefined || account === undefined) return { refusal: notManaged(first?.login ?? "") };
  const unmanaged = rest.find(({ login }) => !managed.has(login));
  if (unmanaged !== undefined) return { refusal: notManaged(unmanaged.login) };
  if (!ownsLock(account, order)) return { refusal: lockNotOwned() };
  const behind = obstacles.get(first.login);
  const isTurn = isTurnOf(account, { kind: first.kind, lockOwner: order.lockOwner }, behind);
  if (!isTurn && neverQueues(order)) return { refusal: busy(behind) };
  return { ...each, first, account };
}

type Recorded = Extract<OrderAnswer, { kind: "recorded" }>;

async function insertAll(tx: Transaction, accepted: readonly Accepted[]): Promise<ReadonlyMap<string, Recorded>> {
  if (accepted.length === 0) return new Map();
  const transfers = await insertTransfers(
    tx,
    accepted.map(({ order, requestId }) => ({ ...order, legCount: order.legs.length, requestId })),
  );
  const recorded = accepted.flatMap((each) => {
    const transfer = transfers.get(each.order.key);
    return transfer === undefined ? [] : [{ ...each, transfer, legs: legsOf(each, transfer) }];
  });
  const numbers = await insertLegs(
    tx,
    recorded.flatMap(({ legs }) => legs),
  );
  const numbered = numbers.values();
  return new Map(
    recorded.map((each) => {
      const legs = each.legs.map((leg) => recordedLeg(each, leg, numbered.next().value));
      const { key, lockOwner, isEnqueued } = each.order;
      return [key, { kind: "recorded", transfer: { id: each.transfer.id, key, lockOwner, isEnqueued }, legs }] as const;
    }),
  );
}

/** False when the saga does not hold the account lock, or not any more: the order is refused. */
function ownsLock({ accountLock }: Account, { lockOwner }: TransferOrder): boolean {
  return lockOwner === "" || (accountLock?.lockOwner === lockOwner && accountLock.isGranted);
}

/** A floor reduces both legs by the same amount. When no money is above it, the order is recorded as refused. */
function legsOf({ order, account }: Accepted, { id: transferId, isLate }: InsertedTransfer): NewLeg[] {
  const cutMinor = cutOf(order, account);
  return order.legs.map(({ login, kind, amountMinor: requestedMinor }, index) => {
    const isFirst = index === 0;
    const ordered = { kind, attempt: 0, absences: 0, state: "INTENT" } as const;
    const amountMinor = isFirst ? cutMinor : -cutMinor;
    const status = statusOf(ordered, { isNothing: cutMinor === 0n, isLate });
    return { transferId, ordinal: index + 1, login, requestedMinor, amountMinor, isReady: isFirst, status };
  });
}

function statusOf(
  ordered: Extract<NewLeg["status"], { state: "INTENT" }>,
  { isNothing, isLate }: { readonly isNothing: boolean; readonly isLate: boolean },
): NewLeg["status"] {
  if (isNothing) return { ...ordered, state: "REFUSED", reason: "nothing_to_take" };
  return isLate ? { ...ordered, state: "REFUSED", reason: "expired" } : ordered;
}

function cutOf({ legs, floorMinor }: TransferOrder, { logBalance }: Account): bigint {
  const requestedMinor = legs[0]?.amountMinor ?? 0n;
  return floorMinor === undefined ? requestedMinor : cut(requestedMinor, logBalance.minor - floorMinor);
}

/** Cuts a debit (negative) to the available amount. */
function cut(debitMinor: bigint, availableMinor: bigint): bigint {
  if (availableMinor <= 0n) return 0n;
  return -debitMinor > availableMinor ? -availableMinor : debitMinor;
}

/** The leg as its row is now, so that it is not read again. */
function recordedLeg({ order, account, requestId }: Accepted, leg: NewLeg, number: LegNumber | undefined): RecordedLeg {
  if (number === undefined) throw new Error("a leg was inserted without a number");
  const { key, lockOwner, comment, isEnqueued, releasesLock, legs } = order;
  return {
    ...leg,
    number,
    dealId: undefined,
    appliedAt: undefined,
    refusal: leg.status.state === "REFUSED" ? leg.status.reason : undefined,
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
    createdAt: account.seenAt,
    changedAt: account.seenAt,
  };
}

function busy(behind: LegNumber | undefined): Refusal {
  return refuse("account_busy", "Another movement on this account is in progress. Retry shortly.", {
    outcome: "not_executed",
    operationId: behind === undefined ? undefined : String(behind),
    retryAfterMs: BUSY_RETRY_AFTER_MS,
  });
}

function lockNotOwned(): Refusal {
  return refuse("lock_not_owned", "The caller does not hold the lock of this account.", { outcome: "not_executed" });
}

function notManaged(login: string): Refusal {
  return refuse("login_not_managed", `Account ${login} is not managed by this service.`, {
    outcome: "not_executed",
    details: { login },
  });
}
