import type { Day } from "./read-performance.ts";

export type Granularity = "day" | "result";

/** As the address has it. Otherwise by day, unless that makes no line: a Master that began to trade today. */
export function granularityOf(chosen: string | null, days: readonly Pick<Day, "nav_per_unit">[]): Granularity {
  if (chosen === "day" || chosen === "result") return chosen;
  return days.filter(({ nav_per_unit: nav }) => nav !== null).length === 1 ? "result" : "day";
}
