import type { Deal } from "../../domain/deal.ts";
import { refused } from "../../domain/retcode.ts";
import { MANAGER_RIGHT } from "../../settings.ts";
import type { TradeServer } from "../../trade-server.ts";
import type { Commands } from "../command.ts";
import { batchOf, pageOf } from "../paging.ts";
import { listOf, numberOf, numbersOf, type Params, requiredNumber, textOf } from "../params.ts";
import { batchedDealRecord, dealRecord } from "../records/deal-record.ts";
import { type Answer, valuesOf } from "../reply.ts";
import { dealsInPeriod, dealsOfGroup, findAccount, findDeal, getAccount, type Period } from "../visible.ts";

/** In seconds, after any deal. */
const END_OF_TIME = 9_999_999_999;

function getDeal(server: TradeServer, params: Params): Answer {
  const deal = findDeal(server, requiredNumber(params, "ticket"));
  if (deal === undefined) throw refused("notFound");
  return { answer: dealRecord(deal) };
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

const right = MANAGER_RIGHT.readTrades;

export const DEAL_COMMANDS: Commands = {
  "deal/get": { right, run: getDeal },
  "deal/get_total": { right, run: countDeals },
  "deal/get_page": { right, run: getDealPage },
  "deal/get_batch": { right, run: getDeals },
};
