import { expect, test } from "vitest";
import type { Ending } from "./child-process.ts";
import { keepRunning } from "./keep-running.ts";
import type { ProcessRun } from "./service-process.ts";

const aRun = (ended: Promise<Ending>, ready: Promise<void> = Promise.resolve()): ProcessRun => ({
  ended,
  ready,
  stop: async () => undefined,
  kill: () => undefined,
});

test("a process that ends repeatedly is restarted after growing pauses", async () => {
  const reported: string[] = [];
  const { promise: fifth, resolve } = Promise.withResolvers<void>();
  let runs = 0;

  const kept = keepRunning(
    "fee",
    async () => {
      runs += 1;
      if (runs === 5) resolve();
      return aRun(Promise.resolve().then(() => Promise.resolve({ how: "SIGKILL", isKilled: true })));
    },
    (text) => reported.push(text),
  );
  await fifth;
  await kept.stop();

  expect(reported.filter((text) => text.includes("ended")).map((text) => text.split("; ")[1])).toEqual([
    "restarting now",
    "restarting in 0.25 s",
    "restarting in 0.5 s",
    "restarting in 1 s",
  ]);
});

test("a process that is killed before it was ready is started again", async () => {
  let runs = 0;

  const kept = keepRunning(
    "fee",
    async () => {
      runs += 1;
      if (runs > 1) return aRun(new Promise(() => undefined));
      return aRun(Promise.resolve({ how: "SIGKILL", isKilled: true }), new Promise(() => undefined));
    },
    () => undefined,
  );

  await expect(kept.ready).resolves.toBeUndefined();
  expect(runs).toBe(2);
});

test("a process that cannot start the first time is not started a second time", async () => {
  let runs = 0;

  const kept = keepRunning(
    "fee",
    async () => {
      runs += 1;
      throw new Error("no space");
    },
    () => undefined,
  );

  await expect(kept.ready).rejects.toThrow("fee did not start: no space");
  expect(runs).toBe(1);
});
