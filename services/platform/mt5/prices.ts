import type { Session, WeekOfSessions } from "../domain/price-age.ts";
import type { Mt5Context } from "./context.ts";
import { isAboutRequest, orElse } from "./errors.ts";
import { fieldsOf } from "./fields.ts";
import { isJsonArray, type JsonValue } from "./http/json.ts";
import { rowsOf } from "./lists.ts";
import type { ServerClock } from "./server-clock.ts";

/** Time of the last price of a symbol. */
export type Tick = { readonly at: Date; readonly serverMs: number };

/** The platform takes names of 4,096 characters together. */
const MAX_NAMES_LENGTH = 4_000;
/** Symbols that are not traded now, whatever their sessions are. */
const TRADE_DISABLED = 0;

/** By symbol; without those of which the platform shows no time that can be read, which may be all of them. */
export async function readTicks(mt5: Mt5Context, symbols: readonly string[]): Promise<ReadonlyMap<string, Tick>> {
  const clock = await mt5.clock();
  const ticks: (readonly [string, Tick])[] = [];
  for (const names of listsOf(symbols)) ticks.push(...(await readSomeTicks(mt5, names, clock)));
  return new Map(ticks);
}

/** None where the platform does not answer such a request: a week is closed with the same reading of a Master, and needs no price of now. */
async function readSomeTicks(mt5: Mt5Context, symbols: string, clock: ServerClock) {
  try {
    const envelope = await mt5.read({ method: "GET", path: "tick/last", query: { symbol: symbols, trans_id: "0" } });
    return rowsOf(envelope).flatMap((row) => readTick(row, clock));
  } catch (error) {
    if (!isAboutRequest(error)) throw error;
    mt5.log.info("times of prices not read, money that joins or leaves a pool waits", { reason: error.message });
    return [];
  }
}

/** A symbol that never had a price shows the time 0. */
function readTick(row: JsonValue, clock: ServerClock): (readonly [string, Tick])[] {
  const fields = fieldsOf(row);
  if (!fields.has("Datetime") && !fields.has("DatetimeMsc")) return [];
  const serverMs = fields.has("DatetimeMsc") ? fields.timeMs("DatetimeMsc", 1) : fields.timeMs("Datetime", 1_000);
  return serverMs === 0 ? [] : [[fields.text("Symbol"), { at: new Date(clock.toUtcMs(serverMs)), serverMs }]];
}

/** The trading sessions of a symbol; none when the platform does not show them, or while the symbol is not traded. */
export async function readSessions(mt5: Mt5Context, symbol: string): Promise<WeekOfSessions> {
  return await orElse([], isAboutRequest, async () => {
    const { answer } = await mt5.read({ method: "GET", path: "symbol/get", query: { symbol } });
    const fields = fieldsOf(answer);
    if (fields.has("TradeMode") && fields.code("TradeMode") === TRADE_DISABLED) return [];
    return daysOf(fields.record("SessionsTrades"));
  });
}

function daysOf(shown: JsonValue | undefined): WeekOfSessions {
  return isJsonArray(shown) ? shown.map((day) => (isJsonArray(day) ? day.map(sessionOf) : [])) : [];
}

function sessionOf(shown: JsonValue): Session {
  const fields = fieldsOf(shown);
  return { open: fields.number("Open"), close: fields.number("Close") };
}

/** Names with commas between them, each list as long as the platform takes. */
function listsOf(symbols: readonly string[]): string[] {
  const lists: string[] = [];
  for (const symbol of symbols) {
    const last = lists.at(-1);
    if (last === undefined || last.length + symbol.length >= MAX_NAMES_LENGTH) lists.push(symbol);
    else lists[lists.length - 1] = `${last},${symbol}`;
  }
  return lists;
}
