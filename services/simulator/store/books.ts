import type { Account } from "../domain/account.ts";
import { type AccountState, stateOf } from "../domain/account-state.ts";
import type { Change, Counters } from "../domain/change.ts";
import { type Deal, type Effect, effectOf, isTrade } from "../domain/deal.ts";
import type { Group } from "../domain/group.ts";
import { FIRST_QUOTES, type Quote, type TradingSession } from "../domain/market.ts";
import { afterDeal, type Position, positionFrom } from "../domain/position.ts";

/** The whole state of the trade server, in memory. Changed by applyChange alone. */
export type Books = {
  readonly accounts: Map<number, Account>;
  readonly deals: Map<number, Deal>;
  /** In the order of their tickets, which is the order of their times but for `setBackMs`. */
  readonly dealsByLogin: Map<number, Deal[]>;
  readonly positions: Map<number, Position>;
  readonly positionsByLogin: Map<number, Set<number>>;
  readonly quotes: Map<string, Quote>;
  readonly sessions: Map<string, TradingSession>;
  readonly groups: Map<string, Group>;
  readonly counters: { -readonly [Name in keyof Counters]: Counters[Name] };
  /** By how much a deal is at most dated before an earlier one, because the wall clock went back. */
  setBackMs: number;
};

/** Far apart, so that a ticket is not taken for the number of an order. */
const FIRST_TICKET = 100_001;
const FIRST_ORDER = 700_001;

export function emptyBooks(firstLogin: number): Books {
  return {
    accounts: new Map(),
    deals: new Map(),
    dealsByLogin: new Map(),
    positions: new Map(),
    positionsByLogin: new Map(),
    quotes: new Map(FIRST_QUOTES.map((quote) => [quote.symbol, quote])),
    sessions: new Map(),
    groups: new Map(),
    counters: { nextDeal: FIRST_TICKET, nextOrder: FIRST_ORDER, nextLogin: firstLogin, lastTimeMsc: 0 },
    setBackMs: 0,
  };
}

export function applyChange(books: Books, change: Change): void {
  switch (change.kind) {
    case "account":
      books.accounts.set(change.account.login, change.account);
      return;
    case "account_removed":
      return removeAccount(books, change.login);
    case "deals":
      for (const deal of change.deals) bookDeal(books, deal);
      return;
    case "deal_edited":
      return replaceDeal(books, change.deal);
    case "deal_removed":
      return removeDeal(books, change.ticket);
    case "balance_fixed":
      return setMoney(books, change.login, change);
    case "quote":
      books.quotes.set(change.quote.symbol, change.quote);
      return;
    case "session":
      books.sessions.set(change.session.symbol, change.session);
      return;
    case "group":
      books.groups.set(change.group.name, change.group);
      return;
    case "forgotten":
      return forgetDeals(books, change.fromTicket);
    case "history":
      return fileDeal(books, change.deal);
    case "position":
      return putPosition(books, change.position.id, change.position.login, change.position);
    case "counters":
      Object.assign(books.counters, change.counters);
  }
}

export function dealsOf(books: Books, login: number): readonly Deal[] {
  return books.dealsByLogin.get(login) ?? [];
}

/** Balance and credit of the account by its deals alone. */
export function historyOf(books: Books, login: number): Effect {
  let [balance, credit] = [0n, 0n];
  for (const deal of dealsOf(books, login)) {
    const effect = effectOf(deal);
    balance += effect.balance;
    credit += effect.credit;
  }
  return { balance, credit };
}

export function positionsOf(books: Books, login: number): readonly Position[] {
  const ids = books.positionsByLogin.get(login);
  if (ids === undefined) return [];
  return [...ids].map((id) => books.positions.get(id)).filter((position) => position !== undefined);
}

export function accountState(books: Books, account: Account): AccountState {
  return stateOf(account, positionsOf(books, account.login), books.quotes);
}

function bookDeal(books: Books, deal: Deal): void {
  fileDeal(books, deal);
  addMoney(books, deal, 1n);
  if (isTrade(deal)) {
    putPosition(books, deal.positionId, deal.login, afterDeal(books.positions.get(deal.positionId), deal));
  }
}

function fileDeal(books: Books, deal: Deal): void {
  const { counters } = books;
  books.deals.set(deal.ticket, deal);
  const ofLogin = books.dealsByLogin.get(deal.login);
  if (ofLogin === undefined) books.dealsByLogin.set(deal.login, [deal]);
  else ofLogin.push(deal);
  counters.nextDeal = Math.max(counters.nextDeal, deal.ticket + 1);
  counters.nextOrder = Math.max(counters.nextOrder, deal.order + 1);
  books.setBackMs = Math.max(books.setBackMs, counters.lastTimeMsc - deal.timeMsc);
  counters.lastTimeMsc = Math.max(counters.lastTimeMsc, deal.timeMsc);
}

function addMoney(books: Books, deal: Deal, sign: 1n | -1n): void {
  const account = books.accounts.get(deal.login);
  if (account === undefined) return;
  const effect = effectOf(deal);
  const balance = account.balance + sign * effect.balance;
  setMoney(books, deal.login, { balance, credit: account.credit + sign * effect.credit });
}

function setMoney(books: Books, login: number, { balance, credit }: { balance: bigint; credit: bigint }): void {
  const account = books.accounts.get(login);
  if (account !== undefined) books.accounts.set(login, { ...account, balance, credit });
}

function putPosition(books: Books, id: number, login: number, position: Position | undefined): void {
  const ids = books.positionsByLogin.get(login) ?? new Set();
  if (position === undefined) {
    books.positions.delete(id);
    ids.delete(id);
  } else {
    books.positions.set(id, position);
    ids.add(id);
  }
  if (ids.size > 0) books.positionsByLogin.set(login, ids);
  else books.positionsByLogin.delete(login);
}

function removeAccount(books: Books, login: number): void {
  for (const { ticket } of dealsOf(books, login)) books.deals.delete(ticket);
  books.dealsByLogin.delete(login);
  books.accounts.delete(login);
}

function replaceDeal(books: Books, deal: Deal): void {
  const ofLogin = books.dealsByLogin.get(deal.login) ?? [];
  const at = ofLogin.findLastIndex(({ ticket }) => ticket === deal.ticket);
  if (at === -1) return;
  ofLogin[at] = deal;
  books.deals.set(deal.ticket, deal);
}

function removeDeal(books: Books, ticket: number): void {
  const deal = books.deals.get(ticket);
  const ofLogin = deal === undefined ? undefined : books.dealsByLogin.get(deal.login);
  if (deal === undefined || ofLogin === undefined) return;
  books.deals.delete(ticket);
  // From the end, because only the last deals are forgotten.
  ofLogin.splice(
    ofLogin.findLastIndex((other) => other.ticket === ticket),
    1,
  );
  if (ofLogin.length === 0) books.dealsByLogin.delete(deal.login);
}

/** Tickets are reset too: a server that lost its last seconds assigns the same ones again. */
function forgetDeals(books: Books, fromTicket: number): void {
  const touched = new Map<number, number>();
  for (let ticket = books.counters.nextDeal - 1; ticket >= fromTicket; ticket -= 1) {
    const deal = books.deals.get(ticket);
    if (deal === undefined) continue;
    addMoney(books, deal, -1n);
    removeDeal(books, ticket);
    if (!isTrade(deal)) continue;
    touched.set(deal.positionId, deal.login);
    books.counters.nextOrder = Math.min(books.counters.nextOrder, deal.order);
  }
  books.counters.nextDeal = Math.min(books.counters.nextDeal, fromTicket);
  for (const [id, login] of touched) {
    const remaining = dealsOf(books, login).filter(({ positionId }) => positionId === id);
    putPosition(books, id, login, positionFrom(remaining));
  }
}
