import type { Account } from "../domain/account.ts";
import { floatingOf } from "../domain/account-state.ts";
import type { Deal } from "../domain/deal.ts";
import { formatScaled } from "../domain/decimal.ts";
import { closingPrice, EURUSD, SYMBOLS } from "../domain/market.ts";
import type { Position } from "../domain/position.ts";
import { formatLots, formatMoney } from "../domain/units.ts";
import { accountState, type Books, positionsOf } from "../store/books.ts";

export function accountView(books: Books, account: Account): object {
  const state = accountState(books, account);
  return {
    login: account.login,
    group: account.group,
    rights: account.rights,
    archived: account.isArchived === true,
    name: account.texts["Name"] ?? "",
    balance: formatMoney(state.balance),
    credit: formatMoney(state.credit),
    equity: formatMoney(state.equity),
    floating: formatMoney(state.floating),
    margin: formatMoney(state.margin),
    margin_free: formatMoney(state.marginFree),
    open_positions: positionsOf(books, account.login).map((position) => positionView(books, position)),
  };
}

function positionView({ quotes }: Books, position: Position): object {
  const quote = quotes.get(position.symbol);
  const current = quote === undefined ? position.priceOpen : closingPrice(position.side, quote);
  return {
    position: position.id,
    symbol: position.symbol,
    side: position.side,
    volume: formatLots(position.volume),
    price_open: priceText(position.priceOpen, position.symbol),
    price_current: priceText(current, position.symbol),
    profit: formatMoney(floatingOf(position, quotes)),
    time_msc: position.createdMsc,
  };
}

/** Times are those of the server's wall clock, as in the Web API. */
export function dealView(deal: Deal): object {
  return {
    deal: deal.ticket,
    time_msc: deal.timeMsc,
    action: deal.action,
    entry: deal.entry,
    position: deal.positionId,
    symbol: deal.symbol,
    volume: formatLots(deal.volume),
    price: priceText(deal.price, deal.symbol),
    profit: formatMoney(deal.profit),
    swap: formatMoney(deal.storage),
    commission: formatMoney(deal.commission),
    comment: deal.comment,
  };
}

export function priceText(points: bigint, symbol: string): string {
  return formatScaled(points, SYMBOLS.get(symbol)?.digits ?? EURUSD.digits);
}
