import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { metricValues } from "#test/support/metric-values.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { createWakeSignal } from "./wake-signal.ts";
import { runJob } from "./job.ts";
import { createLog } from "../process/log.ts";
import { Refusal } from "../values/refusal.ts";

const log = createLog({ service: "test", level: "silent" });
const LONG_MS = 60_000;

test("runs follow each other at once while there is more work, and then wait for the wake-up signal", async () => {
  const wake = createWakeSignal();
  const runs: number[] = [];
  await using _job = runJob({
    name: "count",
    everyMs: LONG_MS,
    wake,
    log,
    work: async () => runs.push(runs.length) < 3,
  });

  await waitFor(() => expect(runs).toEqual([0, 1, 2]));
  wake.notify();
  await waitFor(() => expect(runs).toEqual([0, 1, 2, 3]));
});

test("a wake-up signal during a run is remembered, and runs never overlap", async () => {
  const wake = createWakeSignal();
  let active = 0;
  let runs = 0;
  const concurrent: number[] = [];
  await using _job = runJob({
    name: "busy",
    everyMs: LONG_MS,
    wake,
    log,
    async work() {
      concurrent.push(++active);
      if (++runs < 5) wake.notify();
      await sleep(2);
      active -= 1;
      return false;
    },
  });

  await waitFor(() => expect(runs).toBe(5));
  expect(Math.max(...concurrent)).toBe(1);
});

test("a failed run is retried after a pause that wake-up signals do not shorten", async () => {
  const wake = createWakeSignal();
  const startedAt: number[] = [];
  await using _job = runJob({
    name: "fail",
    everyMs: LONG_MS,
    wake,
    log,
    async work() {
      startedAt.push(performance.now());
      if (startedAt.length >= 3) return false;
      wake.notify();
      throw new Error("not yet");
    },
  });

  await waitFor(() => expect(startedAt.length).toBeGreaterThanOrEqual(3));
  const [first = 0, second = 0, third = 0] = startedAt;
  expect(second - first).toBeGreaterThan(240);
  expect(third - second).toBeGreaterThan(480);
});

test("a job with a gap between runs does together what arrives during it", async () => {
  const GAP_MS = 60;
  const wake = createWakeSignal();
  const startedAt: number[] = [];
  const work = async (): Promise<boolean> => startedAt.push(performance.now()) < 0;
  await using _job = runJob({ name: "gap", everyMs: LONG_MS, minGapMs: GAP_MS, wake, log, work });

  for (const runs of [1, 2, 3]) {
    await waitFor(() => expect(startedAt).toHaveLength(runs), { interval: 5 });
    for (let signals = 0; signals < 20; signals += 1) wake.notify();
  }
  for (const [index, at] of startedAt.slice(1).entries()) {
    expect(at - startedAt[index]!).toBeGreaterThanOrEqual(GAP_MS - 1);
  }
});

test("a job that always finds more work does not block the event loop", async () => {
  let runs = 0;
  const work = async (): Promise<boolean> => (runs += 1) > 0;
  await using _job = runJob({ name: "endless", everyMs: LONG_MS, log, work });

  await waitFor(() => expect(runs).toBeGreaterThan(1));
});

test("disposal aborts the signal, waits for the run and starts no other", async () => {
  let finished = 0;
  const begun = Promise.withResolvers<void>();
  const job = runJob({
    name: "stop",
    everyMs: 1,
    log,
    async work(signal) {
      begun.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await sleep(20);
      finished += 1;
      return true;
    },
  });
  await begun.promise;

  await job[Symbol.asyncDispose]();

  expect(finished).toBe(1);
  await sleep(20);
  expect(finished).toBe(1);
});

function useFakeTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
}

/** A log that records the fields of its lines. */
function recordingLog() {
  const levels = { info: [] as unknown[], warn: [] as unknown[], error: [] as unknown[] };
  const recording = {
    ...log,
    info: (_text: string, fields?: object) => levels.info.push(fields),
    warn: (_text: string, fields?: object) => levels.warn.push(fields),
    error: (_text: string, fields?: object) => levels.error.push(fields),
  } as unknown as typeof log;
  return { levels, recording };
}

const unavailable = new Refusal({ code: "service_unavailable", status: "unavailable", message: "unavailable" });

test("a job that has just started waits for another service that is starting, and logs this once", async () => {
  useFakeTime();
  const { levels, recording } = recordingLog();
  let runs = 0;
  const work = async (): Promise<boolean> => {
    runs += 1;
    if (runs <= 20) throw unavailable;
    return false;
  };
  await using _job = runJob({ name: "early", everyMs: LONG_MS, log: recording, work });

  await vi.advanceTimersByTimeAsync(20_000);

  expect(runs).toBe(21);
  expect(levels).toEqual({ info: [{ job: "early", reason: "Refusal: unavailable" }], warn: [], error: [] });
});

test("a job logs one warning when another service does not start in time", async () => {
  useFakeTime();
  const { levels, recording } = recordingLog();
  await using _job = runJob({
    name: "early",
    everyMs: LONG_MS,
    maxRetryMs: 5_000,
    log: recording,
    work: () => Promise.reject(unavailable),
  });

  await vi.advanceTimersByTimeAsync(600_000);

  expect(levels.info).toHaveLength(1);
  expect(levels.warn).toEqual([expect.objectContaining({ job: "early", reason: "Refusal: unavailable" })]);
  expect(levels.error).toEqual([]);
});

test("later, an unavailable service is a warning after several failures, and the job that runs again a line", async () => {
  useFakeTime();
  const { levels, recording } = recordingLog();
  let runs = 0;
  const work = async (): Promise<boolean> => {
    runs += 1;
    if (runs > 1 && runs <= 101) throw unavailable;
    return false;
  };
  await using _job = runJob({ name: "unavailable", everyMs: LONG_MS, maxRetryMs: 1, log: recording, work });

  await vi.advanceTimersByTimeAsync(LONG_MS + 5);
  expect(levels.info).toMatchObject([{ job: "unavailable", attempt: 1, reason: "Refusal: unavailable" }]);
  expect(levels.warn).toHaveLength(1);

  await vi.advanceTimersByTimeAsync(3 * LONG_MS);
  expect(runs).toBeGreaterThan(102);
  expect(levels.warn).toMatchObject([{ job: "unavailable", attempt: 6, reason: "Refusal: unavailable" }]);
  expect(levels.info.slice(1)).toEqual([{ job: "unavailable" }]);
  expect(levels.error).toEqual([]);
});

test("any other failure is an error each time", async () => {
  const { levels, recording } = recordingLog();
  const work = (): Promise<boolean> => Promise.reject(new Error("broken"));
  await using _job = runJob({ name: "broken", everyMs: LONG_MS, log: recording, work });

  await waitFor(() => expect(levels.error).toEqual([expect.objectContaining({ job: "broken", attempt: 1 })]));
});

test("a job shows its failures in a row until it succeeds again", async () => {
  const wake = createWakeSignal();
  const name = "close the till";
  let isBroken = false;
  const work = async (): Promise<boolean> => {
    if (isBroken) throw new Error("broken");
    return false;
  };
  await using _job = runJob({ name, everyMs: LONG_MS, maxRetryMs: 50, wake, log, work });
  const shown = async () => (await metricValues("pamm_job_failures_in_a_row"))[name];

  expect(await shown()).toBe(0);
  isBroken = true;
  wake.notify();
  await waitFor(async () => expect(await shown()).toBeGreaterThan(1));
  isBroken = false;
  await waitFor(async () => expect(await shown()).toBe(0));
});
