import { refused } from "../../domain/retcode.ts";
import { MANAGER_RIGHT } from "../../settings.ts";
import type { TradeServer } from "../../trade-server.ts";
import type { Commands } from "../command.ts";
import { pageOf } from "../paging.ts";
import { type Params, requiredNumber } from "../params.ts";
import { type Answer, valuesOf } from "../reply.ts";
import { getAccount } from "../visible.ts";

/** The simulator has no pending orders, so every list of orders is empty. */
function getOrder(_server: TradeServer, params: Params): Answer {
  requiredNumber(params, "ticket");
  throw refused("notFound");
}

function countOrders(server: TradeServer, params: Params): Answer {
  getAccount(server, requiredNumber(params, "login"));
  return valuesOf({ Total: "0" });
}

function getOrderPage(server: TradeServer, params: Params): Answer {
  getAccount(server, requiredNumber(params, "login"));
  return { answer: pageOf(params, []) };
}

function getOrders(): Answer {
  return { answer: [] };
}

const right = MANAGER_RIGHT.readTrades;

export const ORDER_COMMANDS: Commands = {
  "order/get": { right, run: getOrder },
  "order/get_total": { right, run: countOrders },
  "order/get_page": { right, run: getOrderPage },
  "order/get_batch": { right, run: getOrders },
  "history/get": { right, run: getOrder },
  "history/get_total": { right, run: countOrders },
  "history/get_page": { right, run: getOrderPage },
  "history/get_batch": { right, run: getOrders },
};
