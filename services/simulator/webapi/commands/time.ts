import { MANAGER_RIGHT } from "../../settings.ts";
import { serverTimeSeconds, type TradeServer } from "../../trade-server.ts";
import type { Commands } from "../command.ts";
import { type Answer, valuesOf } from "../reply.ts";

/** The seconds, and the same moment as the server's wall clock shows it. */
function serverTime(server: TradeServer): Answer {
  const seconds = serverTimeSeconds(server);
  const [date = "", time = ""] = new Date(seconds * 1_000).toISOString().split("T");
  return valuesOf({ Time: `${seconds} ${date.replaceAll("-", ".")} ${time.slice(0, 8)}` });
}

const right = MANAGER_RIGHT.manager;

export const TIME_COMMANDS: Commands = {
  "time/server": { right, run: serverTime },
};
