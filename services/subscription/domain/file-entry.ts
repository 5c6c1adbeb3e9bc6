import {
  type AccountBook,
  type Books,
  type LoggedMovement,
  type OpenTransfer,
  type PoolBook,
  type HoldingBook,
  type Stop,
  changeOfFlow,
} from "./books.ts";
import { type InvestorEffect, classifyInvestorMovement, isDebit, isTransfer } from "./classify-movement.ts";
import { isImported } from "./imported-transfers.ts";
import { changeAccount, changeHolding } from "./buckets.ts";
import { fileResult, type Postings } from "./posting.ts";
import { causeAfter, quarantine } from "./quarantine.ts";

/** Files one entry of an Investor's log: in the order of log positions, each once. Changes only the books in memory. */
export function fileOnInvestor(books: Books, movement: LoggedMovement): void {
  const account = get(books.accounts, movement.login);
  if (isFiled(account, movement)) return;
  const reserve = isDebit(movement.kind) ? books.reserves.get(movement.key) : undefined;
  const holdingId = reserve?.subscriptionId ?? account.pooledIn;
  const holding = holdingId === undefined ? undefined : get(books.holdings, holdingId);
  const effect = classifyInvestorMovement(movement, {
    isPooled: account.pooledIn !== undefined,
    reserve: reserve && { ...reserve, isPooled: account.pooledIn === reserve.subscriptionId },
  });
  const buckets = changeAccount(account.buckets, effect.change);
  const external = quarantine(account, movement, effect.change.quarantined ?? 0n);
  const postings = movement.kind === "result" ? filePosting(books, account, movement) : account.postings;
  books.accounts.set(account.login, { ...account, ...external, filedNumber: movement.number, buckets, postings });
  if (holding !== undefined) applyEffect(books, holding, effect, movement.key);
  reportFurther(books, movement, account.pooledIn);
  if (reserve !== undefined) {
    books.reserves.delete(reserve.key);
    books.outcome.settledReserves.push(reserve.key);
  }
}

function filePosting(books: Books, { login, postings }: AccountBook, movement: LoggedMovement): Postings {
  const filed = fileResult(postings, movement);
  books.outcome.posted.push(movement);
  if (filed.unrequested !== undefined) books.outcome.unrequested.push({ login, number: filed.unrequested });
  return filed.postings;
}

/** Consequences of the movement beyond its Investor's buckets. */
function reportFurther(books: Books, movement: LoggedMovement, pooledIn: bigint | undefined): void {
  const { outcome } = books;
  if (movement.kind === "fee_debit" && movement.amount < 0n) outcome.feeDebits.push(movement);
  if (movement.kind !== "amendment") return;
  if (pooledIn === undefined) outcome.amendments.push(movement);
  else stop(books, get(books.holdings, pooledIn).masterLogin, movement, amended(movement));
}

function amended({ reason, dealId }: LoggedMovement): Pick<Stop, "reason"> {
  return { reason: `${reason || "amendment"}: deal ${dealId}` };
}

function applyEffect(books: Books, holding: HoldingBook, effect: InvestorEffect, key: string): void {
  const { subscriptionId } = holding;
  const unredeemed = holding.unredeemed + effect.unredeemed;
  books.holdings.set(subscriptionId, {
    ...holding,
    buckets: changeHolding(holding.buckets, effect.change),
    unredeemed,
  });
  const waiting = effect.change.waiting ?? 0n;
  if (waiting !== 0n) books.outcome.arrivals.push({ subscriptionId, amount: waiting, entry: undefined });
  if (effect.flow !== 0n) {
    books.outcome.flows.push({ subscriptionId, amount: effect.flow, source: key === "" ? undefined : key });
  }
  if (effect.furtherExit !== 0n) books.outcome.furtherExits.push({ subscriptionId, amount: effect.furtherExit });
}

/** Files one entry of a Master's log: what is no deal of its trader and no transfer of the service belongs to no Investor. */
export function fileOnMaster(books: Books, movement: LoggedMovement): void {
  const pool = get(books.pools, movement.login);
  if (isFiled(pool, movement)) return;
  const { kind, amount, key } = movement;
  const filedDealId = movement.dealId > pool.filedDealId ? movement.dealId : pool.filedDealId;
  const next = { ...pool, filedNumber: movement.number, filedDealId };
  const transfer = isTransfer(kind) ? books.transfers.get(key) : undefined;
  if (kind === "trade") {
    books.pools.set(pool.login, { ...next, unallocated: pool.unallocated + amount });
    books.outcome.results.push(movement);
  } else if (kind === "amendment") {
    books.pools.set(pool.login, next);
    stop(books, pool.login, movement, amended(movement));
  } else if (isTransfer(kind) && isImported(movement)) {
    const sum = kind === "exit" ? "importedExits" : "importedMirrors";
    books.pools.set(pool.login, { ...next, [sum]: pool[sum] + amount });
  } else if (transfer?.amount === amount) {
    books.pools.set(pool.login, next);
    apply(books, transfer, movement);
  } else {
    fileExternal(books, next, movement);
    if (kind === "agent_commission") acknowledge(books, pool, movement);
    if (transfer !== undefined) {
      const reason = `Entry ${movement.number} moved another amount than transfer ${key}.`;
      stop(books, pool.login, movement, { reason, transferKey: key });
    }
  }
}

/**
 * Money on the Master that belongs to no Investor is a flow of its own capital: a deposit gets units at the next strike, and a
 * withdrawal leaves at once and its units follow. A Master with money at its opening may have open positions that the books
 * do not contain; one without money has none.
 */
function fileExternal(books: Books, pool: PoolBook, movement: LoggedMovement): void {
  const { kind, amount, number } = movement;
  // A correction of the log has no deal of its own.
  const dealId = movement.dealId === 0n ? pool.filedDealId : movement.dealId;
  if (amount === 0n) return void books.pools.set(pool.login, pool);
  const { waiting, pooled, unredeemed } = pool.own;
  const undecided = pool.external - (pool.acknowledged ?? 0n);
  // It pays in exactly what own capital lacks: nothing is left to decide about. Any other amount may be meant for something else.
  const isCovering = undecided === 0n && pool.unallocated === 0n && waiting + pooled + amount === 0n && amount > 0n;
  books.pools.set(pool.login, {
    ...pool,
    external: pool.external + amount,
    acknowledged: isCovering ? pool.external + amount : pool.acknowledged,
    externalSince: undecided === 0n ? number : pool.externalSince,
    externalNumber: number,
    externalDealId: dealId,
    cause: causeAfter(pool.cause, undecided, movement),
    own:
      amount > 0n
        ? { waiting: waiting + amount, pooled, unredeemed }
        : { waiting, pooled: pooled + amount, unredeemed: unredeemed - amount },
    arePositionsKnown: pool.arePositionsKnown && kind !== "opening",
  });
  books.outcome.ownFlows.push({ masterLogin: pool.login, amount, entry: { number, dealId } });
}

/**
 * The movement needs no review: what others have moved before needs one as much as before. Results that no operator has acknowledged are not
 * acknowledged with it.
 */
function acknowledge(books: Books, before: PoolBook, { amount }: LoggedMovement): void {
  const { acknowledged, external, own, externalSince, externalNumber, externalDealId, cause } = before;
  const isUndecided = acknowledged === undefined && external === 0n && own.waiting + own.pooled !== 0n;
  books.pools.set(before.login, {
    ...get(books.pools, before.login),
    acknowledged: isUndecided ? undefined : (acknowledged ?? 0n) + amount,
    ...(isUndecided ? {} : { externalSince, externalNumber, externalDealId, cause }),
  });
}

/** Stops the Master. The first reason is kept, because the operator has to decide that one first. */
function stop(
  books: Books,
  login: string,
  { login: account, dealId }: LoggedMovement,
  why: Pick<Stop, "reason" | "transferKey">,
): void {
  const pool = get(books.pools, login);
  if (pool.stoppedReason !== undefined) return;
  books.pools.set(login, { ...pool, stoppedReason: why.reason });
  books.outcome.stopped.push({ login, account, dealId, isWaitingDeal: false, ...why });
}

/** Applies the flows of a transfer after it was filed: inflows are now on the Master, outflows have left it. */
function apply(books: Books, transfer: OpenTransfer, movement: LoggedMovement): void {
  const { number, dealId } = movement;
  for (const flow of transfer.flows) {
    const holding = get(books.holdings, flow.subscriptionId);
    const buckets = changeHolding(holding.buckets, changeOfFlow(flow));
    books.holdings.set(holding.subscriptionId, { ...holding, buckets });
    if (flow.amount > 0n) books.outcome.arrivals.push({ ...flow, entry: { number, dealId } });
  }
  books.transfers.delete(transfer.key);
  books.outcome.appliedTransfers.push({ transfer, movement });
}

/** Whether the entry was filed before. The feed has the entries of a log in their order, so none is missing before it. */
function isFiled({ filedNumber }: Pick<AccountBook, "filedNumber">, { login, number }: LoggedMovement): boolean {
  if (number > filedNumber + 1n) throw new Error(`Entry ${number} of ${login} does not follow ${filedNumber}.`);
  return number <= filedNumber;
}

function get<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key);
  if (value === undefined) throw new Error(`${String(key)} is not loaded.`);
  return value;
}
