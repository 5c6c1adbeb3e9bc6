import { MANAGER_RIGHT } from "../../settings.ts";
import type { TradeServer } from "../../trade-server.ts";
import type { Commands } from "../command.ts";
import type { Answer } from "../reply.ts";
import { accountsOfGroup } from "../visible.ts";

/** The settings that all servers of a platform share. Some clients read them when they start. */
function commonSettings(server: TradeServer): Answer {
  const { books, settings } = server;
  return {
    answer: {
      Name: "Simulator",
      Owner: "",
      OwnerID: "",
      OwnerHost: "",
      OwnerEmail: "",
      Product: "MetaTrader 5 simulator",
      ExpirationLicense: "0",
      ExpirationSupport: "0",
      LimitTradeServers: "1",
      LimitWebServers: "1",
      LimitAccounts: String(settings.loginRange.last),
      LimitDeals: "0",
      LimitSymbols: "0",
      LimitGroups: "0",
      LiveUpdateMode: "0",
      TotalUsers: String(accountsOfGroup(server, "*").length),
      TotalUsersReal: String(accountsOfGroup(server, "*").length),
      TotalDeals: String(books.deals.size),
      TotalOrders: "0",
      TotalOrdersHistory: "0",
      TotalPositions: String(books.positions.size),
      AccountURL: "",
      AccountAuto: "0",
    },
  };
}

export const COMMON_COMMANDS: Commands = {
  "common/get": { right: MANAGER_RIGHT.manager, run: commonSettings },
};
