import { Counter, Gauge } from "prom-client";
import { SECOND_MS } from "../duration.ts";
import type { RuleProgress } from "./progress.ts";

const removedRows = new Counter({
  name: "pamm_retention_removed_rows_total",
  help: "Rows, or whole partitions, that this process has removed because they are no longer needed, by rule.",
  labelNames: ["rule"],
});
const completedAt = new Gauge({
  name: "pamm_retention_completed_timestamp_seconds",
  help: "When a pass of the rule last ended; before its first one, when the rule was added.",
  labelNames: ["rule"],
});

export function countRemoved(rule: string, count: number): void {
  removedRows.inc({ rule }, count);
}

/** Every replica shows the state of the table, whichever replica removes the rows. */
export function showProgress(rules: readonly RuleProgress[]): void {
  for (const { name, knownAt, completedAt: at } of rules) {
    completedAt.set({ rule: name }, (at ?? knownAt).getTime() / SECOND_MS);
  }
}
