import type { Account } from "../domain/account.ts";
import type { Deal } from "../domain/deal.ts";
import type { Group } from "../domain/group.ts";
import { groupMask } from "../domain/group-mask.ts";
import { refused } from "../domain/retcode.ts";
import { type Books, dealsOf } from "../store/books.ts";
import { isHidden, type TradeServer } from "../trade-server.ts";

/** For the manager, invisible accounts do not exist. */
export function findAccount(server: TradeServer, login: number): Account | undefined {
  const account = server.books.accounts.get(login);
  return account !== undefined && isVisible(server, account) ? account : undefined;
}

function isVisible({ isVisibleGroup }: TradeServer, { group, isArchived }: Account): boolean {
  return isArchived !== true && isVisibleGroup(group);
}

/** A group by its exact name. */
export function findGroup({ books, isVisibleGroup }: TradeServer, name: string): Group | undefined {
  return isVisibleGroup(name) ? books.groups.get(name) : undefined;
}

export function visibleGroups({ books, isVisibleGroup }: TradeServer): Group[] {
  return [...books.groups.values()].filter(({ name }) => isVisibleGroup(name));
}

export function getAccount(server: TradeServer, login: number): Account {
  const account = findAccount(server, login);
  if (account === undefined) throw refused("notFound");
  return account;
}

/** The manager's own account is part of the configuration and cannot be changed. */
export function getWritableAccount(server: TradeServer, login: number): Account {
  const account = getAccount(server, login);
  if (login === server.settings.managerLogin) throw refused("noPermission");
  return account;
}

export function accountsOfGroup(server: TradeServer, mask: string): Account[] {
  const isAsked = groupMask(mask);
  return [...server.books.accounts.values()].filter((account) => isAsked(account.group) && isVisible(server, account));
}

export function findDeal(server: TradeServer, ticket: number): Deal | undefined {
  const deal = server.books.deals.get(ticket);
  if (deal === undefined || isHidden(server, ticket)) return undefined;
  return findAccount(server, deal.login) === undefined ? undefined : deal;
}

/** Seconds of the server's wall clock, both ends included. */
export type Period = { readonly from: number; readonly to: number };

export function dealsInPeriod(server: TradeServer, login: number, period: Period): readonly Deal[] {
  const found = dealsBetween(server.books, login, period);
  return server.hidden.size === 0 ? found : found.filter(({ ticket }) => !isHidden(server, ticket));
}

/** It costs the deals that are in the period, however many accounts and deals there are. In the order of their tickets. */
export function dealsOfGroup(server: TradeServer, mask: string, { from, to }: Period): readonly Deal[] {
  const { deals, accounts } = server.books;
  const isAsked = groupMask(mask);
  const { setBackMs } = server.books;
  const [first = Infinity] = deals.keys();
  const found: Deal[] = [];
  for (let ticket = lastTicketBefore(server.books, (to + 1) * 1_000 + setBackMs); ticket >= first; ticket -= 1) {
    const deal = deals.get(ticket);
    // Tickets of deals that were deleted are missing.
    if (deal === undefined) continue;
    if (deal.timeMsc < from * 1_000 - setBackMs) break;
    if (!isWithin(deal, { from, to })) continue;
    const account = accounts.get(deal.login);
    if (account === undefined || !isAsked(account.group) || !isVisible(server, account)) continue;
    if (!isHidden(server, ticket)) found.push(deal);
  }
  return found.toReversed();
}

/** No deal with a higher ticket was made before this time. */
function lastTicketBefore({ deals, counters }: Books, timeMsc: number): number {
  let [low = counters.nextDeal] = deals.keys();
  let high = counters.nextDeal - 1;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    let ticket = middle;
    while (ticket >= low && !deals.has(ticket)) ticket -= 1;
    if (ticket < low || (deals.get(ticket)?.timeMsc ?? 0) < timeMsc) low = middle + 1;
    else high = ticket - 1;
  }
  return high;
}

/** Times go back within a list by no more than the clock did, so both ends are found by binary search. */
function dealsBetween(books: Books, login: number, period: Period): readonly Deal[] {
  const deals = dealsOf(books, login);
  const first = firstAtOrAfter(deals, period.from * 1_000 - books.setBackMs);
  const end = firstAtOrAfter(deals, (period.to + 1) * 1_000 + books.setBackMs);
  return deals.slice(first, end).filter((deal) => isWithin(deal, period));
}

function isWithin({ timeMsc }: Deal, { from, to }: Period): boolean {
  return timeMsc >= from * 1_000 && timeMsc < (to + 1) * 1_000;
}

function firstAtOrAfter(deals: readonly Deal[], timeMsc: number): number {
  let low = 0;
  let high = deals.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((deals[middle]?.timeMsc ?? Number.POSITIVE_INFINITY) < timeMsc) low = middle + 1;
    else high = middle;
  }
  return low;
}
