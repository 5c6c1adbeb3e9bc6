import { expect, test } from "vitest";
import { DEFAULT_BACKOFF, backoffDelay } from "./backoff.ts";
import { createWaitingLine } from "./waiting-line.ts";

const late = () => new Error("late");

test("who came first is served first", async () => {
  const line = createWaitingLine<number>(10, late);
  const served: string[] = [];
  const waiting = ["a", "b", "c"].map((name) => line.join(1_000).then((thing) => served.push(`${name}${thing}`)));
  for (const thing of [1, 2, 3]) line.serve(thing);
  await Promise.all(waiting);
  expect(served).toEqual(["a1", "b2", "c3"]);
});

test("nobody waits longer than they said, and who left is not served", async () => {
  const line = createWaitingLine<number>(10, late);
  const impatient = line.join(5);
  const patient = line.join(1_000);
  await expect(impatient).rejects.toThrow("late");
  line.serve(1);
  expect(await patient).toBe(1);
  expect(line.size()).toBe(0);
});

test("only so many may wait", async () => {
  const line = createWaitingLine<number>(1, late);
  const first = line.join(1_000);
  await expect(line.join(1_000)).rejects.toMatchObject({ problem: "busy" });
  line.serve(1);
  await first;
});

test("those who would give up anyway can be turned away at once", async () => {
  const line = createWaitingLine<number>(10, late);
  const soon = line.join(200);
  const later = line.join(60_000);
  line.turnAway(new Error("down"), 1_000);
  await expect(soon).rejects.toThrow("down");
  expect(line.size()).toBe(1);
  line.serve(1);
  await later;
});

test("pauses double from one second to thirty, with up to a quarter off at random", () => {
  const longest = [1, 2, 3, 4, 5, 6, 7, 1_000].map((failures) => backoffDelay(failures, DEFAULT_BACKOFF, () => 0));
  expect(longest).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(backoffDelay(3, DEFAULT_BACKOFF, () => 1)).toBe(3_000);
  expect(backoffDelay(1, DEFAULT_BACKOFF, () => 1)).toBe(1_000);
});
