import {
  type Movement,
  type MovementKind,
  classifyInvestorMovement,
  classifyMasterMovement,
} from "./classify-movement.ts";
import { type AccountPlaces, type Change, type SeatPlaces, changeAccount, changeSeat } from "./places.ts";

/** One entry of a login's log. */
export type LoggedMovement = Movement & { readonly login: string; readonly number: bigint; readonly key: string };

export type AccountBook = {
  readonly login: string;
  /** Number of the last entry filed; -1 before the opening. */
  readonly filedNumber: bigint;
  /** Number of the newest entry heard of; above filedNumber there is a gap, to be read from the log. */
  readonly heardNumber: bigint;
  readonly places: AccountPlaces;
  /** The subscription whose pool the capital is in. */
  readonly pooledIn: bigint | undefined;
};

export type PoolBook = {
  readonly login: string;
  readonly filedNumber: bigint;
  readonly heardNumber: bigint;
  /** X: money on the Master that belongs to no Investor. */
  readonly foreign: bigint;
  /** Results that are not split among the Investors yet. */
  readonly unallocated: bigint;
  /** Set when nothing may go on until a person has looked. */
  readonly stoppedReason: string | undefined;
};

export type SeatBook = {
  readonly subscriptionId: bigint;
  readonly masterLogin: string;
  readonly investorLogin: string;
  readonly isPooled: boolean;
  readonly places: SeatPlaces;
};

export type Reserve = { readonly key: string; readonly subscriptionId: bigint; readonly amount: bigint };

/** A transfer on a Master that is under way, and the flows that it stands for; an exit stands for one. */
export type OpenTransfer = {
  readonly kind: "mirror" | "exit";
  readonly id: bigint;
  readonly key: string;
  /** Signed change of the Master. */
  readonly amount: bigint;
  readonly flows: readonly SeatFlow[];
};

/** Signed: an inflow of the subscription is positive. */
export type SeatFlow = { readonly subscriptionId: bigint; readonly amount: bigint };

/** The part of the ledger that a batch of movements touches, and what filing them leads to. */
export type Books = {
  readonly accounts: Map<string, AccountBook>;
  readonly pools: Map<string, PoolBook>;
  readonly seats: Map<bigint, SeatBook>;
  readonly reserves: Map<string, Reserve>;
  readonly transfers: Map<string, OpenTransfer>;
  readonly outcome: {
    readonly flows: SeatFlow[];
    readonly furtherExits: SeatFlow[];
    readonly settledReserves: string[];
    readonly appliedTransfers: { readonly transfer: OpenTransfer; readonly movement: LoggedMovement }[];
    readonly results: LoggedMovement[];
  };
};

export type Filed = "filed" | "known" | "gap";

/** Files one entry of an Investor's log: in the order of its numbers, each once. Calls nobody. */
export function fileOnInvestor(books: Books, movement: LoggedMovement): Filed {
  const account = hear(get(books.accounts, movement.login), movement.number);
  books.accounts.set(account.login, account);
  const standing = fits(account.filedNumber, movement.number);
  if (standing !== "filed") return standing;
  const reserve = isDebit(movement.kind) ? books.reserves.get(movement.key) : undefined;
  const seatId = reserve?.subscriptionId ?? account.pooledIn;
  const seat = seatId === undefined ? undefined : get(books.seats, seatId);
  const effect = classifyInvestorMovement(movement, {
    isPooled: account.pooledIn !== undefined,
    reserve: reserve && { amount: reserve.amount, isPooled: account.pooledIn === reserve.subscriptionId },
  });
  const places = changeAccount(account.places, effect.change);
  books.accounts.set(account.login, { ...account, filedNumber: movement.number, places });
  if (seat !== undefined) settle(books, seat, effect);
  if (reserve !== undefined) {
    books.reserves.delete(reserve.key);
    books.outcome.settledReserves.push(reserve.key);
  }
  return "filed";
}

/** Only these settle what was set apart; a fee that is taken back carries the same key. */
function isDebit(kind: MovementKind): boolean {
  return kind === "withdrawal" || kind === "fee_debit";
}

function settle(books: Books, seat: SeatBook, effect: { change: Change; flow: bigint; furtherExit: bigint }): void {
  const { subscriptionId } = seat;
  books.seats.set(subscriptionId, { ...seat, places: changeSeat(seat.places, effect.change) });
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
  const next = { ...pool, filedNumber: movement.number };
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
    case "foreign":
      books.pools.set(pool.login, { ...next, foreign: pool.foreign + movement.amount });
      break;
    case "unfitting":
      books.pools.set(pool.login, {
        ...next,
        foreign: pool.foreign + movement.amount,
        stoppedReason: `entry ${movement.number} moved another amount than ${movement.key}`,
      });
      break;
  }
  return "filed";
}

/** The flows of a transfer that has arrived: inflows are on the Master now, outflows are gone from it. */
function apply(books: Books, transfer: OpenTransfer, movement: LoggedMovement): void {
  for (const flow of transfer.flows) applyFlow(books.seats, flow);
  books.transfers.delete(transfer.key);
  books.outcome.appliedTransfers.push({ transfer, movement });
}

export function applyFlow(seats: Map<bigint, SeatBook>, { subscriptionId, amount }: SeatFlow): void {
  const seat = get(seats, subscriptionId);
  const change: Change = amount > 0n ? { inbound: -amount, waiting: amount } : { outbound: amount };
  seats.set(subscriptionId, { ...seat, places: changeSeat(seat.places, change) });
}

function hear<Book extends { readonly heardNumber: bigint }>(book: Book, number: bigint): Book {
  return number > book.heardNumber ? { ...book, heardNumber: number } : book;
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
