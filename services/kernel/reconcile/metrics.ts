import { Gauge } from "prom-client";
import { SECOND_MS } from "../duration.ts";
import type { CheckState } from "./store.ts";

const labelNames = ["check"] as const;

const openBreaks = new Gauge({
  name: "pamm_reconciliation_open_breaks",
  help: "Breaks that are open, by check.",
  labelNames,
});
const atRiskCents = new Gauge({
  name: "pamm_reconciliation_at_risk_cents",
  help: "Money at risk in open breaks, in cents, by check.",
  labelNames,
});
const oldestBreakSeconds = new Gauge({
  name: "pamm_reconciliation_oldest_break_seconds",
  help: "Age of the oldest open break; 0 without one.",
  labelNames,
});
const completedAt = new Gauge({
  name: "pamm_reconciliation_completed_timestamp_seconds",
  help: "When the check was last complete; before its first complete run, when it was added.",
  labelNames,
});
const fullPassAt = new Gauge({
  name: "pamm_reconciliation_full_pass_timestamp_seconds",
  help: "When a check that reads a part in each run last completed a pass; before its first pass, when it was added.",
  labelNames,
});
const everySeconds = new Gauge({
  name: "pamm_reconciliation_interval_seconds",
  help: "From one run of the check to the next.",
  labelNames,
});
const failing = new Gauge({
  name: "pamm_reconciliation_failing",
  help: "1 when the last run of the check was not complete.",
  labelNames,
});

/** Every replica shows the state of the tables, whichever replica runs the checks. */
export function showChecks(checks: readonly CheckState[]): void {
  for (const check of checks) {
    const labels = { check: check.name };
    openBreaks.set(labels, check.openBreaks);
    // Beyond 2^53 cents the loss of precision does not matter.
    atRiskCents.set(labels, Number(check.atRiskMinor));
    oldestBreakSeconds.set(labels, check.oldestBreakSeconds);
    completedAt.set(labels, (check.completedAt ?? check.knownAt).getTime() / SECOND_MS);
    fullPassAt.set(labels, (check.fullPassAt ?? check.knownAt).getTime() / SECOND_MS);
    everySeconds.set(labels, Number(check.everyMs) / SECOND_MS);
    failing.set(labels, check.error === "" ? 0 : 1);
  }
}
