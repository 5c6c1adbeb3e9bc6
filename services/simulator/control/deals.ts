import { cutText } from "../domain/account.ts";
import { type Deal, DEAL_ACTION, type DealAction, isTrade, MAX_COMMENT_LENGTH, moneyDeal } from "../domain/deal.ts";
import { formatMoney } from "../domain/units.ts";
import { record, recordDeals, type TradeServer } from "../trade-server.ts";
import { amount, getAccount } from "./accounts.ts";
import { integer, type Parse, readerOf, text } from "./body.ts";
import { ControlProblem } from "./problem.ts";

/** The dealer number of the broker's own programs. */
const SERVER_DEALER = 0;
/** Above the length that the platform keeps: an edited comment is cut, as by the platform. */
const MAX_TEXT = 127;
const EDITED = 1;

const OF_TRADES: readonly DealAction[] = [
  DEAL_ACTION.buy,
  DEAL_ACTION.sell,
  DEAL_ACTION.buyCanceled,
  DEAL_ACTION.sellCanceled,
];
const WITHOUT_TRADE = Object.values(DEAL_ACTION).filter((action) => !OF_TRADES.includes(action));

/** Charges, interest, dividends, taxes, credits: the bookings of a server without a trade. */
export function bookDeal(server: TradeServer, body: unknown): object {
  const read = readerOf(body);
  const login = read.required("login", "a login", integer(1, Number.MAX_SAFE_INTEGER));
  const action = read.required("action", "the number of an action that is no trade", parseAction);
  const moved = read.required("amount", "an amount", amount());
  const comment = read.optional("comment", "text", text(MAX_TEXT)) ?? "";
  read.finish();
  getAccount(server, login);
  const [deal] = recordDeals(server, [moneyDeal({ login, dealer: SERVER_DEALER, action, amount: moved, comment })]);
  return { deal: deal?.ticket };
}

/** What the program of a broker pays against a negative balance: all of it, and it sees nothing but the balance. */
export function compensateNegative(server: TradeServer, body: unknown): object {
  const read = readerOf(body);
  const login = read.required("login", "a login", integer(1, Number.MAX_SAFE_INTEGER));
  read.finish();
  const { balance } = getAccount(server, login);
  if (balance >= 0n) throw new ControlProblem("not_negative", `the balance of ${login} is ${formatMoney(balance)}`);
  const action = DEAL_ACTION.stopOutCompensation;
  const comment = "Negative balance protection";
  const [deal] = recordDeals(server, [moneyDeal({ login, dealer: SERVER_DEALER, action, amount: -balance, comment })]);
  return { deal: deal?.ticket, amount: formatMoney(-balance) };
}

export function editDeal(server: TradeServer, ticket: number, body: unknown): object {
  const before = getDeal(server, ticket);
  const read = readerOf(body);
  const comment = read.optional("comment", "text", text(MAX_TEXT));
  const deal: Deal = {
    ...before,
    profit: read.optional("profit", "an amount", amount()) ?? before.profit,
    storage: read.optional("swap", "an amount", amount()) ?? before.storage,
    commission: read.optional("commission", "an amount", amount()) ?? before.commission,
    comment: comment === undefined ? before.comment : cutText(comment, MAX_COMMENT_LENGTH),
    modificationFlags: before.modificationFlags | EDITED,
  };
  read.finish();
  record(server, { kind: "deal_edited", deal });
  return { deal: ticket };
}

/** The platform cancels a trade: the deal keeps its number and becomes a cancelled one. */
export function cancelDeal(server: TradeServer, ticket: number): object {
  const before = getDeal(server, ticket);
  if (!isTrade(before)) throw new ControlProblem("unknown_deal", `deal ${ticket} is no trade`);
  const action = before.action === DEAL_ACTION.buy ? DEAL_ACTION.buyCanceled : DEAL_ACTION.sellCanceled;
  const modificationFlags = before.modificationFlags | EDITED;
  const deal: Deal = { ...before, action, profit: 0n, storage: 0n, commission: 0n, modificationFlags };
  record(server, { kind: "deal_edited", deal });
  return { deal: ticket };
}

export function removeDeal(server: TradeServer, ticket: number): object {
  getDeal(server, ticket);
  record(server, { kind: "deal_removed", ticket });
  return { deal: ticket };
}

function getDeal({ books }: TradeServer, ticket: number): Deal {
  const deal = books.deals.get(ticket);
  if (deal === undefined) throw new ControlProblem("unknown_deal", `there is no deal ${ticket}`);
  return deal;
}

const parseAction: Parse<DealAction> = (value) => WITHOUT_TRADE.find((action) => action === value);
