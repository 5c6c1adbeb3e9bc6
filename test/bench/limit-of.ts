import { availableParallelism } from "node:os";
import type { Measurement } from "./bench.ts";
import type { OperationCosts } from "./section.ts";
import { number } from "./report/format.ts";
import { median } from "./statistics.ts";

/** Processor time of a stretch of time, by process. */
export type Usage = { readonly seconds: number; readonly used: ReadonlyMap<string, number> };

/** From this share on the processors are the limit; below it the requests wait for something else. */
const BUSY_SHARE = 0.85;
const SHOWN = 3;

/** What stops a contestant from being faster: the processors with those who use them, or waiting. */
export function limitOf(usages: readonly Usage[], cores = availableParallelism()): string {
  const names = [...new Set(usages.flatMap(({ used }) => [...used.keys()]))];
  const shares = names
    .map((name) => [name, median(usages.map((usage) => (usage.used.get(name) ?? 0) / usage.seconds / cores))] as const)
    .toSorted(([, one], [, other]) => other - one);
  const all = totalOf(Object.fromEntries(shares));
  const top = shares.slice(0, SHOWN).map(([name, share]) => `${name} ${percent(share)}`);
  const waiting = all < BUSY_SHARE ? "waits for commits, the platform or one busy process; " : "";
  return `${waiting}processors ${percent(all)} busy: ${top.join(", ")}`;
}

/** The usage of a load, with that of the generator. */
export function usageOf({ rate, costs, ownCost }: Measurement): Usage {
  const perSecond = (ms: number): number => (ms * rate) / 1_000;
  const used = new Map(Object.entries(costs).map(([name, ms]) => [name, perSecond(ms)]));
  return { seconds: 1, used: used.set("load generator", perSecond(ownCost)) };
}

/** Of all processes. */
export function totalOf(costs: OperationCosts): number {
  return Object.values(costs).reduce((sum, cost) => sum + cost, 0);
}

/** Processor milliseconds by process of each of so many operations. */
export function costsOf({ used }: Usage, operations: number): OperationCosts {
  return Object.fromEntries(Array.from(used, ([name, seconds]) => [name, (seconds * 1_000) / Math.max(1, operations)]));
}

/** The medians of several measurements, process by process. */
export function medianCosts(all: readonly OperationCosts[]): OperationCosts {
  const names = Object.keys(all[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, median(all.map((costs) => costs[name] ?? 0))]));
}

function percent(share: number): string {
  return `${number(100 * share)} %`;
}
