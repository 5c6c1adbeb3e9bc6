import { expect, test } from "vitest";
import { metricValues } from "#test/support/metric-values.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { runJob } from "./job.ts";
import { createLog } from "./log.ts";
import { createWakeSignal } from "./wake-signal.ts";

const log = createLog({ service: "test", level: "silent" });

test("a job shows when it last succeeded, its time, and its failures in a row until it succeeds again", async () => {
  const wake = createWakeSignal();
  const name = "close the till";
  let isBroken = false;
  const work = async (): Promise<boolean> => {
    if (isBroken) throw new Error("broken");
    return false;
  };
  const startedAt = Date.now() / 1_000;
  await using _job = runJob({ name, everyMs: 60_000, maxRetryMs: 50, wake, log, work });
  const value = async (metric: string) => (await metricValues(metric))[name];
  const runs = async () => (await metricValues("pamm_job_duration_seconds"))[name];

  await waitFor(async () => expect(await runs()).toBe(1));
  expect(await value("pamm_job_succeeded_timestamp_seconds")).toBeGreaterThanOrEqual(startedAt);
  expect(await value("pamm_job_interval_seconds")).toBe(60);
  expect(await value("pamm_job_failures_in_a_row")).toBe(0);
  expect(await value("pamm_job_failures_total")).toBe(0);

  const succeededAt = await value("pamm_job_succeeded_timestamp_seconds");
  isBroken = true;
  wake.notify();
  await waitFor(async () => expect(await value("pamm_job_failures_in_a_row")).toBeGreaterThan(1));
  expect(await value("pamm_job_succeeded_timestamp_seconds")).toBe(succeededAt);

  isBroken = false;
  await waitFor(async () => expect(await value("pamm_job_failures_in_a_row")).toBe(0));
  expect(await value("pamm_job_failures_total")).toBeGreaterThan(1);
  expect(await value("pamm_job_succeeded_timestamp_seconds")).toBeGreaterThan(succeededAt ?? Infinity);
});
