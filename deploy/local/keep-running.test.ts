import { expect, test } from "vitest";
import { keepRunning } from "./keep-running.ts";
import type { Life } from "./life.ts";
import type { Ending } from "./tied-process.ts";

const aLife = (ended: Promise<Ending>, ready: Promise<void> = Promise.resolve()): Life => ({
  ended,
  ready,
  stop: async () => undefined,
  kill: () => undefined,
});

test("who dies again and again is started again after growing pauses", async () => {
  const said: string[] = [];
  const { promise: fifth, resolve } = Promise.withResolvers<void>();
  let lives = 0;

  const kept = keepRunning(
    "fee",
    async () => {
      lives += 1;
      if (lives === 5) resolve();
      return aLife(Promise.resolve().then(() => Promise.resolve({ how: "SIGKILL", isKilled: true })));
    },
    (text) => said.push(text),
  );
  await fifth;
  await kept.stop();

  expect(said.filter((text) => text.includes("ended")).map((text) => text.split("; ")[1])).toEqual([
    "starting it again now",
    "starting it again in 0.25 s",
    "starting it again in 0.5 s",
    "starting it again in 1 s",
  ]);
});

test("who is killed before it was ever ready gets another try", async () => {
  let lives = 0;

  const kept = keepRunning(
    "fee",
    async () => {
      lives += 1;
      if (lives > 1) return aLife(new Promise(() => undefined));
      return aLife(Promise.resolve({ how: "SIGKILL", isKilled: true }), new Promise(() => undefined));
    },
    () => undefined,
  );

  await expect(kept.ready).resolves.toBeUndefined();
  expect(lives).toBe(2);
});

test("who cannot be started the first time is not started a second time", async () => {
  let lives = 0;

  const kept = keepRunning(
    "fee",
    async () => {
      lives += 1;
      throw new Error("no room");
    },
    () => undefined,
  );

  await expect(kept.ready).rejects.toThrow("fee did not start: no room");
  expect(lives).toBe(1);
});
