import {
  type Books,
  type LoggedMovement,
  type OpenTransfer,
  type PoolBook,
  type HoldingBook,
  applyFlow,
} from "./books.ts";
import {
  type InvestorEffect,
  type MovementKind,
  classifyInvestorMovement,
  classifyMasterMovement,
} from "./classify-movement.ts";
import { changeAccount, changeHolding } from "./buckets.ts";

export type Filed = "filed" | "known" | "gap";

/** Files one entry of an Investor's log: in the order of its numbers, each once. Calls nobody. */
export function fileOnInvestor(books: Books, movement: LoggedMovement): Filed {
  const account = hear(get(books.accounts, movement.login), movement.number);
  books.accounts.set(account.login, account);
  const standing = fits(account.filedNumber, movement.number);
  if (standing !== "filed") return standing;
  const reserve = isDebit(movement.kind) ? books.reserves.get(movement.key) : undefined;
  const holdingId = reserve?.subscriptionId ?? account.pooledIn;
  const holding = holdingId === undefined ? undefined : get(books.holdings, holdingId);
  const effect = classifyInvestorMovement(movement, {
    isPooled: account.pooledIn !== undefined,
    reserve: reserve && { amount: reserve.amount, isPooled: account.pooledIn === reserve.subscriptionId },
  });
  const buckets = changeAccount(account.buckets, effect.change);
  books.accounts.set(account.login, { ...account, filedNumber: movement.number, buckets });
  if (holding !== undefined) settle(books, holding, effect);
  note(books, movement, account.pooledIn);
  if (reserve !== undefined) {
    books.reserves.delete(reserve.key);
    books.outcome.settledReserves.push(reserve.key);
  }
  return "filed";
}

/** What others have to know of the movement, whatever it did to the places. */
function note(books: Books, movement: LoggedMovement, pooledIn: bigint | undefined): void {
  const { outcome } = books;
  if (movement.kind === "result") outcome.posted.push(movement);
  if (movement.kind === "fee_debit" && movement.amount < 0n) outcome.feeDebits.push(movement);
  if (movement.kind !== "amendment") return;
  if (pooledIn === undefined) outcome.amendments.push(movement);
  else stop(books, get(books.holdings, pooledIn).masterLogin, { reason: reasonOf(movement), about: movement });
}

function reasonOf({ reason, dealId }: LoggedMovement): string {
  return `${reason || "amendment"}: deal ${dealId}`;
}

/** Only these settle what was set apart; a fee that is taken back carries the same key. */
function isDebit(kind: MovementKind): boolean {
  return kind === "withdrawal" || kind === "fee_debit";
}

function settle(books: Books, holding: HoldingBook, effect: InvestorEffect): void {
  const { subscriptionId } = holding;
  const unredeemed = holding.unredeemed + effect.unredeemed;
  books.holdings.set(subscriptionId, {
    ...holding,
    buckets: changeHolding(holding.buckets, effect.change),
    unredeemed,
  });
  const waiting = effect.change.waiting ?? 0n;
  if (waiting !== 0n) books.outcome.arrivals.push({ subscriptionId, amount: waiting, place: undefined });
  if (effect.flow !== 0n) books.outcome.flows.push({ subscriptionId, amount: effect.flow });
  if (effect.furtherExit !== 0n) books.outcome.furtherExits.push({ subscriptionId, amount: -effect.furtherExit });
}

/** Files one entry of a Master's log. */
export function fileOnMaster(books: Books, movement: LoggedMovement): Filed {
  const pool = hear(get(books.pools, movement.login), movement.number);
  books.pools.set(pool.login, pool);
  const standing = fits(pool.filedNumber, movement.number);
  if (standing !== "filed") return standing;
  const transfer = books.transfers.get(movement.key);
  const next = { ...pool, filedNumber: movement.number, filedDealId: highest(pool.filedDealId, movement.dealId) };
  const effect = classifyMasterMovement(movement, transfer);
  switch (effect) {
    case "transfer":
      books.pools.set(pool.login, next);
      if (transfer !== undefined) apply(books, transfer, movement);
      break;
    case "result":
      books.pools.set(pool.login, { ...next, unallocated: pool.unallocated + movement.amount });
      books.outcome.results.push(movement);
      break;
    case "external":
      books.pools.set(pool.login, { ...next, ...externalTo(pool, movement) });
      break;
    case "unfitting":
      books.pools.set(pool.login, { ...next, external: pool.external + movement.amount });
      stop(books, pool.login, {
        reason: `entry ${movement.number} moved another amount than ${movement.key}`,
        about: movement,
        transferKey: movement.key,
      });
      break;
    case "irregular":
      books.pools.set(pool.login, next);
      stop(books, pool.login, { reason: reasonOf(movement), about: movement });
      break;
  }
  return "filed";
}

/** Who had money before the books may have had open positions too; nobody has them without money. */
function externalTo(
  { external, arePositionsKnown }: PoolBook,
  { kind, amount }: LoggedMovement,
): Pick<PoolBook, "external" | "arePositionsKnown"> {
  return {
    external: external + amount,
    arePositionsKnown: arePositionsKnown && (kind !== "opening" || amount === 0n),
  };
}

/** The first reason stays: it is where a person has to begin. */
function stop(books: Books, login: string, { reason, about, ...transfer }: Stopping): void {
  const pool = get(books.pools, login);
  if (pool.stoppedReason !== undefined) return;
  books.pools.set(login, { ...pool, stoppedReason: reason });
  const { login: account, dealId } = about;
  books.outcome.stopped.push({ login, reason, account, dealId, isWaitingDeal: false, ...transfer });
}

type Stopping = { readonly reason: string; readonly about: LoggedMovement; readonly transferKey?: string };

/** The flows of a transfer that has arrived: inflows are on the Master now, outflows are gone from it. */
function apply(books: Books, transfer: OpenTransfer, movement: LoggedMovement): void {
  const { number, dealId } = movement;
  for (const flow of transfer.flows) {
    applyFlow(books.holdings, flow);
    if (flow.amount > 0n) books.outcome.arrivals.push({ ...flow, place: { number, dealId } });
  }
  books.transfers.delete(transfer.key);
  books.outcome.appliedTransfers.push({ transfer, movement });
}

function highest(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}

function hear<Book extends { readonly receivedNumber: bigint }>(book: Book, number: bigint): Book {
  return number > book.receivedNumber ? { ...book, receivedNumber: number } : book;
}

function fits(filedNumber: bigint, number: bigint): Filed {
  if (number <= filedNumber) return "known";
  return number === filedNumber + 1n ? "filed" : "gap";
}

function get<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key);
  if (value === undefined) throw new Error(`the books were loaded without ${String(key)}`);
  return value;
}
