import { MINUTE_MS, SECOND_MS } from "#kernel/values/duration.ts";
import { isOfOpenSession, isRecent, type WeekOfSessions } from "../domain/price-age.ts";
import type { Deps } from "../deps.ts";
import type { Tick } from "../mt5/prices.ts";

/** A symbol whose last price is too old to be a mark; without a time the platform shows none. */
export type OldPrice = { readonly symbol: string; readonly tickAt: Date | undefined };

/** Which of these symbols have a price that is too old to be a mark, as of a time before the answer. */
export type OldPrices = (symbols: readonly string[]) => Promise<readonly OldPrice[]>;

/** How long an old price is taken for the last one: many Masters that wait for a symbol share one request. */
const OLD_FOR_MS = 5 * SECOND_MS;
/** Sessions change when operators of the platform change them. */
const SESSIONS_FOR_MS = MINUTE_MS;

type Known<Value> = { readonly value: Promise<Value>; untilMs: number };

/** Prices are read only for symbols that are asked about, and shared by all who ask. A recent price stays one until its age ends that. */
export function oldPrices({ mt5, settings }: Pick<Deps, "mt5" | "settings">): OldPrices {
  const { maxTickAgeMs } = settings;
  const known = new Map<string, Known<OldPrice | undefined>>();
  const sessions = new Map<string, Known<WeekOfSessions>>();

  const sessionsOf = async (symbol: string): Promise<WeekOfSessions> => {
    const shown = sessions.get(symbol);
    if (shown !== undefined && performance.now() < shown.untilMs) return await shown.value;
    const value = mt5.readSessions(symbol);
    sessions.set(symbol, { value, untilMs: performance.now() + SESSIONS_FOR_MS });
    value.catch(() => sessions.delete(symbol));
    return await value;
  };

  const judge = async (symbol: string, tick: Tick | undefined, entry: Known<OldPrice | undefined>) => {
    if (tick === undefined) return { symbol, tickAt: undefined };
    const at = await mt5.platformNow();
    const now = { at, serverMs: (await mt5.serverClock()).toServerMs(at.getTime()) };
    if (isRecent(tick, now, maxTickAgeMs)) {
      const ageMs = Math.max(0, at.getTime() - tick.at.getTime());
      entry.untilMs = performance.now() + maxTickAgeMs - ageMs;
      return undefined;
    }
    return isOfOpenSession(tick, now, await sessionsOf(symbol)) ? undefined : { symbol, tickAt: tick.at };
  };

  const read = (symbols: readonly string[]): void => {
    const ticks = mt5.readTicks(symbols);
    for (const symbol of symbols) {
      const entry: Known<OldPrice | undefined> = {
        value: ticks.then((shown) => judge(symbol, shown.get(symbol), entry)),
        untilMs: performance.now() + OLD_FOR_MS,
      };
      known.set(symbol, entry);
      entry.value.catch(() => known.get(symbol) === entry && known.delete(symbol));
    }
  };

  const lastOf = async (symbol: string): Promise<OldPrice | undefined> => await known.get(symbol)?.value;

  return async (symbols) => {
    if (maxTickAgeMs === Number.POSITIVE_INFINITY) return [];
    const nowMs = performance.now();
    const unknown = symbols.filter((symbol) => (known.get(symbol)?.untilMs ?? 0) <= nowMs);
    if (unknown.length > 0) read(unknown);
    const judged = await Promise.all(symbols.map(lastOf));
    return judged.filter((old) => old !== undefined);
  };
}
