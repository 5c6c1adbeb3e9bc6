import { Gauge } from "prom-client";
import { SECOND_MS } from "../duration.ts";
import type { CheckState } from "./store.ts";

const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ["check"] });

const openBreaks = gauge("pamm_reconciliation_open_breaks", "Breaks that are open, by check.");
const atRiskCents = gauge("pamm_reconciliation_at_risk_cents", "Money at risk in open breaks, in cents, by check.");
const oldestBreakSeconds = gauge(
  "pamm_reconciliation_oldest_break_seconds",
  "Age of the oldest open break; 0 without one.",
);
const completedAt = gauge(
  "pamm_reconciliation_completed_timestamp_seconds",
  "When the check was last complete; before its first complete run, when it was added.",
);
const fullPassAt = gauge(
  "pamm_reconciliation_full_pass_timestamp_seconds",
  "When a check that reads a part in each run last completed a pass; before its first pass, when it was added.",
);
const everySeconds = gauge("pamm_reconciliation_interval_seconds", "From one run of the check to the next.");
const failing = gauge("pamm_reconciliation_failing", "1 when the last run of the check was not complete.");

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
