import { Counter, Gauge, Histogram } from "prom-client";
import { SECOND_MS } from "./duration.ts";

/** Not `job`: Prometheus gives that label to the process. */
const labelNames = ["name"] as const;

const seconds = new Histogram({
  name: "pamm_job_duration_seconds",
  help: "Time of one run of a background job that succeeded.",
  labelNames,
  buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 30],
});
const succeededAt = new Gauge({
  name: "pamm_job_succeeded_timestamp_seconds",
  help: "When a run of the job last succeeded, in seconds since 1970; before the first success, when the job was started.",
  labelNames,
});
const everySeconds = new Gauge({
  name: "pamm_job_interval_seconds",
  help: "Longest pause between two runs of the job that succeed.",
  labelNames,
});
const failures = new Counter({ name: "pamm_job_failures_total", help: "Failed runs of the job.", labelNames });
const failuresInARow = new Gauge({
  name: "pamm_job_failures_in_a_row",
  help: "Failed runs of the job since the last success.",
  labelNames,
});

/** Measures the runs of one job. The name is a constant text. */
export function measureJob(name: string, everyMs: number) {
  everySeconds.set({ name }, everyMs / SECOND_MS);
  succeededAt.set({ name }, Date.now() / SECOND_MS);
  failures.inc({ name }, 0);
  failuresInARow.set({ name }, 0);
  return {
    succeeded(elapsedMs: number): void {
      seconds.observe({ name }, elapsedMs / SECOND_MS);
      succeededAt.set({ name }, Date.now() / SECOND_MS);
      failuresInARow.set({ name }, 0);
    },
    failed(inARow: number): void {
      failures.inc({ name });
      failuresInARow.set({ name }, inARow);
    },
  };
}
