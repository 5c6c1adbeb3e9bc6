import type { Transaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { accountArchived, accountBusy, accountStopped, historyNotRead } from "../domain/account-obstacles.ts";
import { isTurnOf, lacksDeposits } from "../domain/admission.ts";
import { refuse } from "../refusals.ts";
import type { Account } from "../store/accounts.ts";
import { type LogNumber, sumCredited } from "../store/log.ts";
import type { QueueState } from "../store/queues.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { insertTransfers } from "../store/transfers.ts";
import { draftLegs } from "./draft-legs.ts";
import { decidePermit, type Granted, type Permit, type PermitHolder, permitOf } from "./grant-permits.ts";
import { neverQueues, type TransferOrder } from "./transfer-order.ts";

export type NewOrder = { readonly order: TransferOrder; readonly requestId: string };

/** What is known about the logins of some orders while the accounts of their first legs, by login, are locked. */
export type LockedLogins = QueueState & {
  readonly accounts: ReadonlyMap<string, Account>;
  /** The other accounts of the orders, and those that another transaction has locked. */
  readonly others: ReadonlyMap<string, Account>;
};

export type OrderAnswer =
  /** The legs are as they were ordered: before the permit of the first one, if it was its turn. */
  | { readonly kind: "recorded"; readonly legs: readonly RecordedLeg[]; readonly permit: Permit | undefined }
  /** Nothing was recorded. */
  | { readonly kind: "refused"; readonly refusal: Refusal };

type Accepted<Order> = { readonly request: Order; readonly account: Account };

/**
 * Records orders with their legs and permits. The accounts stay locked until the commit, so the decisions stay valid; the legs
 * get the numbers in the order given. `permitHolder`: the sender of an order that is permitted at once; without one operators have decided in this
 * database, and their orders wait. Leaves out orders whose key another request has recorded before.
 */
export async function insertOrders<Order extends NewOrder>(
  tx: Transaction,
  logins: LockedLogins,
  requests: readonly Order[],
  permitHolder?: (request: Order) => PermitHolder | undefined,
): Promise<ReadonlyMap<Order, OrderAnswer>> {
  const answers = new Map<Order, OrderAnswer>();
  const accepted: Accepted<Order>[] = [];
  for (const request of requests) {
    const judged = judge(logins, request.order);
    if (judged instanceof Refusal) answers.set(request, { kind: "refused", refusal: judged });
    else accepted.push({ request, account: judged });
  }
  if (accepted.length === 0) return answers;
  const { generation, isGateOpen, obstacles } = logins;
  const unused = logins.numbers.values();
  const credited = await sumCredited(tx, accepted.flatMap(movedSinceFloor));
  const drafts = accepted.map(({ request, account }) => {
    const { order, requestId } = request;
    const isOutdated = order.generation !== undefined && order.generation !== generation;
    const creditedMinor = credited.get(account.login) ?? 0n;
    const legs = draftLegs({ order, requestId, account, creditedMinor, isOutdated }, unused);
    const [leg] = legs;
    const candidate = { account, leg, obstacle: obstacles.get(leg.login)?.number, isGateOpen };
    const holder = permitHolder && (() => permitHolder(request));
    const decision = holder && decidePermit({ ...candidate, permitHolder: holder });
    const granted = typeof decision === "object" && "granted" in decision ? decision.granted : undefined;
    return { request, legs, granted };
  });
  const ids = await insertTransfers(tx, drafts.map(newTransfer));
  for (const { request, legs: own, granted } of drafts) {
    const transferId = ids.get(request.order.key);
    if (transferId === undefined) continue;
    const legs = own.map((leg) => ({ ...leg, transferId }));
    answers.set(request, { kind: "recorded", legs, permit: granted && legs[0] && permitOf(legs[0], granted) });
  }
  return answers;
}

/** The account of the first leg, or why the order is refused. */
function judge({ accounts, others, obstacles }: LockedLogins, order: TransferOrder): Account | Refusal {
  const [first] = order.legs;
  const account = accounts.get(first.login);
  if (account === undefined) return notManaged(first.login);
  const involved = [account];
  for (const { login } of order.legs.slice(1)) {
    const known = accounts.get(login) ?? others.get(login);
    if (known === undefined) return notManaged(login);
    involved.push(known);
  }
  if (!ownsLock(account, order)) return lockNotOwned();
  const stopped = involved.find(({ isStopped }) => isStopped);
  if (stopped !== undefined && !order.isEnqueued) return accountStopped(stopped.login);
  // Before its absence is confirmed, an account gets no credit of two legs.
  const archived = involved.find((each) => (each === account ? each.isArchived : each.isUnshown));
  // Of an account without money there is nothing to take, which is the outcome of such an order.
  const takesNothing = archived === account && order.floorMinor !== undefined;
  // Capital that waited here for the account could not be withdrawn meanwhile: its caller keeps it.
  const isCapital = first.kind === "mirror" && first.amountMinor > 0n;
  if (archived !== undefined && !takesNothing && (isCapital || !order.isEnqueued)) {
    return accountArchived(archived.login);
  }
  const unread = involved.find(({ mayLackDeals }) => mayLackDeals);
  if (unread !== undefined && !order.isEnqueued) return historyNotRead(unread.login);
  const obstacle = obstacles.get(first.login);
  if (lacksDeposits(account, first.kind, obstacle?.number)) return historyNotRead(first.login);
  const isTurn = isTurnOf(account, { kind: first.kind, lockOwner: order.lockOwner }, obstacle?.number);
  return !isTurn && neverQueues(order) ? accountBusy(obstacle) : account;
}

/** Nothing can be known of a credit that its caller has not filed: a deposit of another party would pay a fee, for example. */
function movedSinceFloor({ request, account: { login, logNumber } }: Accepted<NewOrder>): LogNumber[] {
  const { floorNumber } = request.order;
  return floorNumber === undefined || floorNumber >= logNumber ? [] : [{ login, number: floorNumber }];
}

type Draft = {
  readonly request: NewOrder;
  readonly legs: ReturnType<typeof draftLegs>;
  readonly granted: Granted | undefined;
};

function newTransfer({ request: { order, requestId }, legs: [first, ...rest], granted }: Draft) {
  const { status } = granted ?? first;
  const legs = [{ ...first, status }, ...rest];
  return { ...order, legCount: legs.length, requestId, legs, permit: granted?.attempt };
}

/** False when the saga does not hold the account lock, or not any more: the order is refused. */
function ownsLock({ accountLock }: Account, { lockOwner }: TransferOrder): boolean {
  return lockOwner === "" || (accountLock?.lockOwner === lockOwner && accountLock.isGranted);
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
