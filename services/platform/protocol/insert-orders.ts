import { databaseUnavailable } from "#kernel/contract/refusals.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import { accountArchived, accountBusy, accountStopped, historyNotRead } from "../domain/account-obstacles.ts";
import { isTurnOf, lacksDeposits } from "../domain/admission.ts";
import { refuse } from "../refusals.ts";
import type { Account } from "../store/accounts.ts";
import { type LogNumber, sumCredited } from "../store/log.ts";
import type { QueueState } from "../store/queues.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { arePermitsGranted, readGeneration } from "../store/permit-gate.ts";
import { insertTransfers, type Transfer } from "../store/transfers.ts";
import { draftLegs, type NewLegs } from "./draft-legs.ts";
import { decidePermit, type Granted, type Permit, type PermitHolder, permitOf } from "./grant-permits.ts";
import { neverQueues, type OrderedLeg, type TransferOrder } from "./transfer-order.ts";

export type NewOrder = {
  readonly order: TransferOrder;
  readonly requestId: string;
  /** The sender, if the order is permitted at once. Without one operators have decided in this database, and their order waits. */
  readonly permitHolder?: () => PermitHolder | undefined;
};

/** What is known about the logins of some orders while the accounts of their first legs, by login, are locked. */
export type LockedLogins = QueueState & { readonly accounts: ReadonlyMap<string, Account> };

export type OrderAnswer =
  /** The legs are as they were ordered: before the permit of the first one, if it was its turn. */
  | {
      readonly kind: "recorded";
      readonly transfer: Transfer;
      readonly legs: readonly RecordedLeg[];
      readonly permit: Permit | undefined;
    }
  /** Nothing was recorded. */
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** Another request has recorded the key before. */
  | { readonly kind: "taken" };

type Accepted = NewOrder & Omit<NewLegs, "creditedMinor" | "isOutdated"> & { readonly first: OrderedLeg };

/**
 * Records orders with their legs and permits. The accounts stay locked until the commit, so the decisions stay valid; the legs
 * get the numbers in the order given.
 */
export async function insertOrders(
  tx: Transaction,
  logins: LockedLogins,
  orders: readonly NewOrder[],
): Promise<OrderAnswer[]> {
  const judged = orders.map((each) => judge(logins, each));
  const accepted = judged.filter((each): each is Accepted => !("refusal" in each));
  const inserted = await insertAll(tx, logins, accepted);
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
  const unmanaged = rest.find(({ login }) => !managed.has(login) && !accounts.has(login));
  if (unmanaged !== undefined) return { refusal: notManaged(unmanaged.login) };
  if (!ownsLock(account, order)) return { refusal: lockNotOwned() };
  const stopped = order.legs.find(({ login }) => (accounts.get(login) ?? managed.get(login))?.isStopped === true);
  if (stopped !== undefined && !order.isEnqueued) return { refusal: accountStopped(stopped.login) };
  const archived = order.legs.find((leg) => (accounts.get(leg.login) ?? managed.get(leg.login))?.isArchived === true);
  // Of an account without money there is nothing to take, which is the outcome of such an order.
  const takesNothing = archived === first && order.floorMinor !== undefined;
  // Capital that waited here for the account could not be withdrawn meanwhile: its caller keeps it.
  const isCapital = first.kind === "mirror" && first.amountMinor > 0n;
  if (archived !== undefined && !takesNothing && (isCapital || !order.isEnqueued)) {
    return { refusal: accountArchived(archived.login) };
  }
  const unread = order.legs.find(({ login }) => (accounts.get(login) ?? managed.get(login))?.mayLackDeals === true);
  if (unread !== undefined && !order.isEnqueued) return { refusal: historyNotRead(unread.login) };
  const obstacle = obstacles.get(first.login);
  if (lacksDeposits(account, first.kind, obstacle?.number)) return { refusal: historyNotRead(first.login) };
  const isTurn = isTurnOf(account, { kind: first.kind, lockOwner: order.lockOwner }, obstacle?.number);
  if (!isTurn && neverQueues(order)) return { refusal: accountBusy(obstacle) };
  return { ...each, first, account };
}

/** Nothing can be known of a credit that its caller has not filed: a deposit of another party would pay a fee, for example. */
function movedSinceFloor({ order: { floorNumber }, account: { login, logNumber } }: Accepted): LogNumber[] {
  return floorNumber === undefined || floorNumber >= logNumber ? [] : [{ login, number: floorNumber }];
}

type Inserted = Exclude<OrderAnswer, { kind: "taken" }>;

async function insertAll(
  tx: Transaction,
  { numbers, obstacles }: LockedLogins,
  accepted: readonly Accepted[],
): Promise<ReadonlyMap<string, Inserted>> {
  if (accepted.length === 0) return new Map();
  const unused = numbers.values();
  const credited = await sumCredited(tx, accepted.flatMap(movedSinceFloor));
  const isCalculated = accepted.some(({ order }) => order.generation !== undefined);
  const present = isCalculated ? await readGeneration(tx) : undefined;
  const drafts = accepted.map((each) => {
    const { generation = present } = each.order;
    const creditedMinor = credited.get(each.first.login) ?? 0n;
    const legs = draftLegs({ ...each, creditedMinor, isOutdated: generation !== present }, unused);
    const [leg] = legs;
    const { account, permitHolder } = each;
    const obstacle = leg && obstacles.get(leg.login)?.number;
    const decision = leg && permitHolder && decidePermit({ account, leg, obstacle, permitHolder });
    const granted = typeof decision === "object" && "granted" in decision ? decision.granted : undefined;
    return { ...each, legs, granted };
  });
  const premature = await findPremature(tx, drafts);
  const recorded = drafts.filter((each) => !premature.has(each));
  const ids = await insertTransfers(tx, recorded.map(newTransfer));
  return new Map<string, Inserted>([
    ...Array.from(
      premature,
      ({ order: { key } }) => [key, { kind: "refused", refusal: databaseUnavailable() }] as const,
    ),
    ...recorded.flatMap(({ order, legs: own, granted }) => {
      const { key, lockOwner, isEnqueued } = order;
      const id = ids.get(key);
      if (id === undefined) return [];
      const legs = own.map((leg) => ({ ...leg, transferId: id }));
      const permit = granted && legs[0] && permitOf(legs[0], granted);
      return [[key, { kind: "recorded", transfer: { id, key, lockOwner, isEnqueued }, legs, permit }] as const];
    }),
  ]);
}

/**
 * Orders of callers without a permit in a database that grants none. It may have lost commits: the request may have been executed, a balance may be without a
 * movement, and a caller may have lost its own row. A process that was not stopped may not know yet that it is connected to such a database.
 */
async function findPremature(tx: Transaction, drafts: readonly Draft[]): Promise<ReadonlySet<Draft>> {
  const waiting = drafts.filter(({ permitHolder, granted }) => permitHolder !== undefined && granted === undefined);
  return new Set(waiting.length === 0 || (await arePermitsGranted(tx)) ? [] : waiting);
}

type Draft = Accepted & { readonly legs: ReturnType<typeof draftLegs>; readonly granted: Granted | undefined };

function newTransfer({ order, requestId, legs, granted }: Draft) {
  return {
    ...order,
    legCount: legs.length,
    requestId,
    legs: legs.map((leg, index) => ({
      ...leg,
      status: index === 0 && granted !== undefined ? granted.status : leg.status,
    })),
    permit: granted?.attempt,
  };
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
