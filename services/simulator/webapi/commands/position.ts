import type { Position } from "../../domain/position.ts";
import { refused } from "../../domain/retcode.ts";
import { MANAGER_RIGHT } from "../../settings.ts";
import { positionsOf } from "../../store/books.ts";
import type { TradeServer } from "../../trade-server.ts";
import type { Commands } from "../command.ts";
import { batchOf, pageOf } from "../paging.ts";
import { listOf, numbersOf, type Params, requiredNumber, textOf } from "../params.ts";
import { positionRecord } from "../records/position-record.ts";
import { type Answer, valuesOf, type WireRecord } from "../reply.ts";
import { accountsOfGroup, findAccount, getAccount } from "../visible.ts";

function countPositions(server: TradeServer, params: Params): Answer {
  return valuesOf({ Total: String(positionsOfLogin(server, params).length) });
}

function getPositionPage(server: TradeServer, params: Params): Answer {
  return { answer: pageOf(params, positionsOfLogin(server, params)).map(shown(server)) };
}

function positionsOfLogin(server: TradeServer, params: Params): readonly Position[] {
  return positionsOf(server.books, getAccount(server, requiredNumber(params, "login")).login);
}

function getPositions(server: TradeServer, params: Params): Answer {
  const symbols = listOf(params, "symbol");
  const found = selectPositions(server, params).filter(
    ({ symbol }) => symbols === undefined || symbols.includes(symbol),
  );
  return { answer: batchOf(found).map(shown(server)) };
}

/** Exactly one of login, group and ticket. */
function selectPositions(server: TradeServer, params: Params): readonly Position[] {
  const logins = numbersOf(params, "login");
  const tickets = numbersOf(params, "ticket");
  const group = textOf(params, "group") || undefined;
  if ([logins, tickets, group].filter((given) => given !== undefined).length !== 1) throw refused("invalidParameters");
  if (tickets !== undefined) {
    const found = tickets.map((ticket) => server.books.positions.get(ticket)).filter((one) => one !== undefined);
    return found.filter(({ login }) => findAccount(server, login) !== undefined);
  }
  const accounts = logins?.map((login) => findAccount(server, login)) ?? accountsOfGroup(server, group ?? "");
  return accounts.flatMap((account) => (account === undefined ? [] : positionsOf(server.books, account.login)));
}

function shown({ books }: TradeServer): (position: Position) => WireRecord {
  return (position) => positionRecord(position, books.quotes);
}

const right = MANAGER_RIGHT.readTrades;

export const POSITION_COMMANDS: Commands = {
  "position/get_total": { right, run: countPositions },
  "position/get_page": { right, run: getPositionPage },
  "position/get_batch": { right, run: getPositions },
};
