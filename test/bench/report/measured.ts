import type { Measurement } from "../bench.ts";
import { totalOf } from "../limit-of.ts";
import { median, spreadOf } from "../statistics.ts";
import { number, spread } from "./format.ts";

/** The cells of a table for measurements of the same thing. */
export function cellsOf(of: readonly Measurement[]) {
  return {
    /** Per second. */
    rate: spread(spreadOf(of.map(({ rate }) => rate))),
    p50: number(median(of.map(({ p50 }) => p50))),
    p99: number(median(of.map(({ p99 }) => p99))),
    /** By status. */
    failures: JSON.stringify(Object.assign({}, ...of.map(({ failures }) => failures))),
    /** Processor milliseconds each. */
    cost: number(median(of.map(({ costs }) => totalOf(costs)))),
  };
}
