import { cutText } from "../../domain/account.ts";
import { type Deal, MAX_COMMENT_LENGTH } from "../../domain/deal.ts";
import { refused } from "../../domain/retcode.ts";
import { MANAGER_RIGHT } from "../../settings.ts";
import { record, type TradeServer } from "../../trade-server.ts";
import type { Commands } from "../command.ts";
import { batchOf, pageOf } from "../paging.ts";
import {
  listOf,
  numberOf,
  numbersOf,
  type Params,
  requiredMoney,
  requiredNumber,
  requiredText,
  textOf,
} from "../params.ts";
import { batchedDealRecord, dealRecord } from "../records/deal-record.ts";
import { type Answer, NO_CONTENT, valuesOf } from "../reply.ts";
import { dealsInPeriod, dealsOfGroup, findAccount, findDeal, getAccount, type Period } from "../visible.ts";

/** In seconds, after any deal. */
const END_OF_TIME = 9_999_999_999;

function getDealByTicket(server: TradeServer, ticket: number): Deal {
  const deal = findDeal(server, ticket);
  if (deal === undefined) throw refused("notFound");
  return deal;
}

function getDeal(server: TradeServer, params: Params): Answer {
  return { answer: dealRecord(getDealByTicket(server, requiredNumber(params, "ticket"))) };
}

function countDeals(server: TradeServer, params: Params): Answer {
  return valuesOf({ Total: String(dealsOfLogin(server, params).length) });
}

function getDealPage(server: TradeServer, params: Params): Answer {
  return { answer: pageOf(params, dealsOfLogin(server, params)).map(dealRecord) };
}

function dealsOfLogin(server: TradeServer, params: Params): readonly Deal[] {
  const { login } = getAccount(server, requiredNumber(params, "login"));
  const period = { from: numberOf(params, "from") ?? 0, to: numberOf(params, "to") ?? END_OF_TIME };
  return dealsInPeriod(server, login, period);
}

function getDeals(server: TradeServer, params: Params): Answer {
  const symbols = listOf(params, "symbol");
  const deals = selectDeals(server, params).filter(({ symbol }) => symbols === undefined || symbols.includes(symbol));
  return { answer: batchOf(deals).map(batchedDealRecord) };
}

/** Exactly one of login, group and ticket; the first two require a period. */
function selectDeals(server: TradeServer, params: Params): readonly Deal[] {
  const logins = numbersOf(params, "login");
  const tickets = numbersOf(params, "ticket");
  const group = textOf(params, "group") || undefined;
  if ([logins, tickets, group].filter((given) => given !== undefined).length !== 1) throw refused("invalidParameters");
  if (tickets !== undefined) {
    return tickets.map((ticket) => findDeal(server, ticket)).filter((deal) => deal !== undefined);
  }
  const period: Period = { from: requiredNumber(params, "from"), to: requiredNumber(params, "to") };
  if (logins === undefined) return dealsOfGroup(server, group ?? "", period);
  const accounts = logins.map((login) => findAccount(server, login));
  return accounts.flatMap((account) => (account === undefined ? [] : dealsInPeriod(server, account.login, period)));
}

const MODIFIED_BY_MANAGER = 1;

/** deal/update: the manager rewrites history. Balances do not follow; user/check_balance shows the difference. */
function updateDeal(server: TradeServer, params: Params): Answer {
  const before = getDealByTicket(server, numberOf(params, "deal") ?? requiredNumber(params, "ticket"));
  const comment = textOf(params, "comment");
  const money = (name: string, value: bigint): bigint =>
    textOf(params, name) === undefined ? value : requiredMoney(params, name);
  const deal: Deal = {
    ...before,
    comment: comment === undefined ? before.comment : cutText(comment, MAX_COMMENT_LENGTH),
    externalId: textOf(params, "ExternalID") ?? before.externalId,
    profit: money("profit", before.profit),
    storage: money("storage", before.storage),
    commission: money("commission", before.commission),
    modificationFlags: before.modificationFlags | MODIFIED_BY_MANAGER,
  };
  record(server, { kind: "deal_edited", deal });
  return { answer: dealRecord(deal) };
}

function deleteDeals(server: TradeServer, params: Params): Answer {
  requiredText(params, "ticket");
  const deals = (numbersOf(params, "ticket") ?? []).map((ticket) => getDealByTicket(server, ticket));
  for (const { ticket } of deals) record(server, { kind: "deal_removed", ticket });
  return NO_CONTENT;
}

const { readTrades, editTrades, deleteTrades } = MANAGER_RIGHT;

export const DEAL_COMMANDS: Commands = {
  "deal/get": { right: readTrades, run: getDeal },
  "deal/get_total": { right: readTrades, run: countDeals },
  "deal/get_page": { right: readTrades, run: getDealPage },
  "deal/get_batch": { right: readTrades, run: getDeals },
  "deal/update": { right: editTrades, run: updateDeal },
  "deal/delete": { right: deleteTrades, run: deleteDeals },
};
