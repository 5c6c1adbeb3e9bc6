import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type Refusal, BUSY_RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";
import { type Account, listRoles, lockAccounts } from "../store/accounts.ts";
import { insertAttempts } from "../store/attempts.ts";
import { findObstacles } from "../store/queues.ts";
import { insertLegs, type NewLeg } from "../store/leg-transitions.ts";
import { type InsertedTransfer, insertTransfers, type Transfer } from "../store/transfers.ts";
import { type PermitHolder, isAdmitted, newAttempt, type Permit } from "./grant-permit.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { applyEvent } from "../domain/leg-machine.ts";
import { neverQueues, type OrderedLeg, type TransferOrder } from "./transfer-order.ts";

export type NewOrder = {
  readonly order: TransferOrder;
  readonly requestId: string;
  /** The sender that would send the first leg at once; undefined without a free session or for an enqueued order. */
  readonly permitHolder: PermitHolder | undefined;
};

export type OrderAnswer =
  /** Recorded, with a permit when its login was free. */
  | { readonly kind: "recorded"; readonly transfer: Transfer; readonly permit: Permit | undefined }
  /** Nothing was recorded. */
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** Another request has recorded the key before. */
  | { readonly kind: "taken" };

type Judged = NewOrder & { readonly debit: OrderedLeg; readonly account: Account; readonly isFree: boolean };

/**
 * Records orders and, where the login is free and a session available, permits the first leg in the same commit. The
 * accounts stay locked until the commit, so the decision stays valid; the first legs must be on different logins.
 */
export async function insertOrders(tx: Transaction, orders: readonly NewOrder[]): Promise<OrderAnswer[]> {
  const judged = await judgeAll(tx, orders);
  const accepted = judged.filter((each): each is Judged => !("refusal" in each));
  const inserted = await insertTransfers(
    tx,
    accepted.map(({ order, requestId }) => ({ ...order, legCount: order.legs.length, requestId })),
  );
  const recorded = accepted.flatMap((each) => {
    const transfer = inserted.get(each.order.key);
    return transfer === undefined ? [] : [{ ...each, transfer, legs: legsOf(each, transfer) }];
  });
  const numbers = await insertLegs(
    tx,
    recorded.flatMap(({ legs }) => legs),
  );
  const permits = permitsOf(recorded, numbers);
  const attempts = [...permits.values()].map(({ permit, permitHolder }) =>
    newAttempt({ kind: permit.leg.status.kind, number: permit.leg.number, attempt: 1 }, permitHolder),
  );
  if (attempts.length > 0) await insertAttempts(tx, attempts);
  return judged.map((each) => {
    if ("refusal" in each) return { kind: "refused", refusal: each.refusal };
    const { key, lockOwner, isEnqueued } = each.order;
    const id = inserted.get(key)?.id;
    if (id === undefined) return { kind: "taken" };
    return { kind: "recorded", transfer: { id, key, lockOwner, isEnqueued }, permit: permits.get(key)?.permit };
  });
}

async function judgeAll(
  tx: Transaction,
  orders: readonly NewOrder[],
): Promise<(Judged | { readonly refusal: Refusal })[]> {
  const debits = orders.flatMap(({ order }) => order.legs[0]?.login ?? []);
  const accounts = await lockAccounts(tx, debits);
  const credits = orders.flatMap(({ order }) => order.legs.slice(1).map(({ login }) => login));
  const managed = credits.length === 0 ? new Map() : await listRoles(tx, credits);
  const obstacles = await findObstacles(tx, [...accounts.values()]);
  return orders.map((each) => {
    const { order, permitHolder } = each;
    const [debit, ...rest] = order.legs;
    const account = debit && accounts.get(debit.login);
    if (debit === undefined || account === undefined) return { refusal: notManaged(debit?.login ?? "") };
    const unmanaged = rest.find(({ login }) => !managed.has(login));
    if (unmanaged !== undefined) return { refusal: notManaged(unmanaged.login) };
    if (!ownsLock(account, order)) return { refusal: lockNotOwned() };
    const behind = obstacles.get(debit.login);
    const isExclusive = LEG_KINDS[debit.kind].exclusive;
    const isBusy = isExclusive && (account.isBeingRead || !isAdmitted(account, order) || behind !== undefined);
    if (isBusy && neverQueues(order)) return { refusal: busy(behind) };
    return { ...each, debit, account, isFree: !isBusy && permitHolder !== undefined };
  });
}

/** False when the saga does not hold the account lock, or not any more: the order is refused. */
function ownsLock({ accountLock }: Account, { lockOwner }: TransferOrder): boolean {
  return lockOwner === "" || (accountLock?.lockOwner === lockOwner && accountLock.isGranted);
}

/** A floor reduces both legs by the same amount. When no money is above it, the order is recorded as refused. */
function legsOf({ order, account, isFree }: Judged, { id: transferId, isLate }: InsertedTransfer): NewLeg[] {
  const cutMinor = cutOf(order, account);
  return order.legs.map(({ login, kind, amountMinor: requestedMinor }, index) => {
    const isFirst = index === 0;
    const ordered = { kind, attempt: 0, absences: 0, state: "INTENT" } as const;
    const amountMinor = isFirst ? cutMinor : -cutMinor;
    const isPermitted = isFirst && isFree;
    const status = statusOf(ordered, { isNothing: cutMinor === 0n, isLate, isPermitted });
    return { transferId, ordinal: index + 1, login, requestedMinor, amountMinor, isReady: isFirst, status };
  });
}

type Conditions = { readonly isNothing: boolean; readonly isLate: boolean; readonly isPermitted: boolean };

function statusOf(
  ordered: Extract<NewLeg["status"], { state: "INTENT" }>,
  { isNothing, isLate, isPermitted }: Conditions,
): NewLeg["status"] {
  if (isNothing) return { ...ordered, state: "REFUSED", reason: "nothing_to_take" };
  if (isLate) return { ...ordered, state: "REFUSED", reason: "expired" };
  const next = isPermitted ? applyEvent(ordered, { type: "permit_granted" }) : undefined;
  return next?.kind === "move" && next.to.state === "SENDING" ? next.to : ordered;
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

type Recorded = Judged & { readonly legs: readonly NewLeg[] };

/** Permits by key, with their senders. `numbers` are those of all legs in order. */
function permitsOf(
  recorded: readonly Recorded[],
  numbers: readonly LegNumber[],
): ReadonlyMap<string, { readonly permit: Permit; readonly permitHolder: PermitHolder }> {
  const permits = new Map<string, { permit: Permit; permitHolder: PermitHolder }>();
  let index = 0;
  for (const { order, legs, permitHolder } of recorded) {
    const [first] = legs;
    const number = numbers[index];
    index += legs.length;
    if (first?.status.state !== "SENDING" || permitHolder === undefined || number === undefined) continue;
    const { login, amountMinor, status } = first;
    const leg = { number, login, amountMinor, comment: order.comment, status };
    permits.set(order.key, { permit: { leg, attempt: 1, grantedAtMs: permitHolder.grantedAtMs }, permitHolder });
  }
  return permits;
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
