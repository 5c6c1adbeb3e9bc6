import type { Client, Models } from "../../../client/index.ts";
import { addDecimals, compareDecimals, growthOf, isZero } from "../../formats/decimal.ts";
import { type Period, piecesOf } from "../../formats/period.ts";

export type Day = Models["PerformancePoint"];

export type PerformanceOf = {
  /** Ascending by day. */
  readonly days: readonly Day[];
  readonly navPerUnit: string | null;
  readonly poolValue: string | null;
  readonly growth: string | null;
  readonly drawdown: string;
  readonly result: string;
  readonly fees: string;
};

/** A unit is worth so much before the first result. */
const FIRST_NAV = "1";
/** The return of a period in which everything was lost. */
const LOST = "-1";

/** The performance of a period of any length: one request reads a year at most. */
export async function readPerformance(
  client: Client,
  login: string,
  period: Period,
  signal: AbortSignal,
): Promise<PerformanceOf> {
  const path = { master_login: login };
  const pieces = await Promise.all(
    piecesOf(period).map((query) => client.query("getPerformance", { path, query }, { signal })),
  );
  return joined(pieces);
}

/**
 * One piece has the figures of the API. The return of several follows from the values at their ends, unless one was lost whole; their
 * largest fall may be between two of them, so it is that of their days, which is below the highest value so far.
 */
export function joined(pieces: readonly Models["Performance"][]): PerformanceOf {
  const days = pieces.flatMap(({ points }) => points);
  const opening = pieces[0]?.opening_nav_per_unit ?? FIRST_NAV;
  const closing = pieces.at(-1)?.closing_nav_per_unit ?? null;
  const [only] = pieces.length === 1 ? pieces : [];
  const lost = pieces.find(
    ({ time_weighted_return: growth }) => growth !== null && compareDecimals(growth, LOST) === 0,
  );
  const falls = only === undefined ? days.map(({ drawdown }) => drawdown ?? "0") : [only.max_drawdown];
  return {
    days,
    navPerUnit: closing,
    poolValue: days.findLast(({ pool_value: value }) => value !== null)?.pool_value ?? null,
    growth:
      (lost ?? only)?.time_weighted_return ??
      (only !== undefined || closing === null
        ? null
        : (growthOf(isZero(opening) ? FIRST_NAV : opening, closing) ?? null)),
    drawdown: falls.toSorted(compareDecimals).at(-1) ?? "0",
    result: addDecimals(days.map(({ result }) => result)),
    fees: addDecimals(pieces.map(({ fees }) => fees)),
  };
}
