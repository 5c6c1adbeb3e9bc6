import { expect, test } from "vitest";
import { DEFAULT_BACKOFF, backoffDelay } from "./backoff.ts";
import { WaitingQueue } from "./waiting-queue.ts";

const late = () => new Error("late");

test("callers are served in the order of their requests", async () => {
  const queue = new WaitingQueue<number>(10, late);
  const served: string[] = [];
  const waiting = ["a", "b", "c"].map((name) => queue.join(1_000).then((item) => served.push(`${name}${item}`)));
  for (const item of [1, 2, 3]) queue.serve(item);
  await Promise.all(waiting);
  expect(served).toEqual(["a1", "b2", "c3"]);
});

test("a caller waits no longer than its limit and is not served afterwards", async () => {
  const queue = new WaitingQueue<number>(10, late);
  const short = queue.join(5);
  const long = queue.join(1_000);
  await expect(short).rejects.toThrow("late");
  queue.serve(1);
  expect(await long).toBe(1);
  expect(queue.size).toBe(0);
});

test("the number of waiting callers is limited", async () => {
  const queue = new WaitingQueue<number>(1, late);
  const first = queue.join(1_000);
  await expect(queue.join(1_000)).rejects.toMatchObject({ problem: "busy" });
  queue.serve(1);
  await first;
});

test("callers whose remaining wait is short can be refused at once", async () => {
  const queue = new WaitingQueue<number>(10, late);
  const soon = queue.join(200);
  const later = queue.join(60_000);
  queue.turnAway(new Error("down"), 1_000);
  await expect(soon).rejects.toThrow("down");
  expect(queue.size).toBe(1);
  queue.serve(1);
  await later;
});

test("pauses double from one second to thirty, less a random part of up to a quarter", () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7, 1_000].map((failures) => backoffDelay(failures, DEFAULT_BACKOFF, () => 0));
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(backoffDelay(3, DEFAULT_BACKOFF, () => 1)).toBe(3_000);
  expect(backoffDelay(1, DEFAULT_BACKOFF, () => 1)).toBe(1_000);
});
