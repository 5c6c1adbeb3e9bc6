import { DAY_MS } from "#kernel/duration.ts";
import { MANAGER_RIGHT } from "../../settings.ts";
import { serverTimeSeconds, type TradeServer } from "../../trade-server.ts";
import type { Commands } from "../command.ts";
import { type Answer, valuesOf } from "../reply.ts";

const DAYS = 7;
const HOURS = 24;
/** The address from which the platform takes its time, not its zone. */
const TIME_SERVER = "time.example.com";
/** Half a year: one of two instants that far apart is in winter. */
const HALF_YEAR_MS = 182 * DAY_MS;

/** The seconds, and the same moment as the server's wall clock shows it. */
function serverTime(server: TradeServer): Answer {
  const seconds = serverTimeSeconds(server);
  const [date = "", time = ""] = new Date(seconds * 1_000).toISOString().split("T");
  return valuesOf({ Time: `${seconds} ${date.replaceAll("-", ".")} ${time.slice(0, 8)}` });
}

function timeSettings({ nowMs, offset }: TradeServer): Answer {
  const current = offset(nowMs());
  const other = offset(nowMs() - HALF_YEAR_MS);
  const standard = Math.min(current, other);
  return {
    answer: {
      Daylight: current === other ? "0" : "1",
      DaylightState: current === standard ? "0" : "1",
      TimeZone: String(standard),
      TimeServer: TIME_SERVER,
      Days: Array.from({ length: DAYS }, () => Array.from({ length: HOURS }, () => "1")),
    },
  };
}

const right = MANAGER_RIGHT.manager;

export const TIME_COMMANDS: Commands = {
  "time/server": { right, run: serverTime },
  "time/get": { right, run: timeSettings },
};
