import { expect, test } from "vitest";
import { concurrently } from "./concurrently.ts";

test("items are begun in their order, at most so many at the same time, and each once", async () => {
  const begun: number[] = [];
  let running = 0;
  let mostRunning = 0;
  await concurrently([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    begun.push(item);
    running += 1;
    mostRunning = Math.max(mostRunning, running);
    await Promise.resolve();
    running -= 1;
  });
  expect([begun, mostRunning]).toEqual([[1, 2, 3, 4, 5, 6, 7], 3]);
});

test("an error of the work is that of the whole", async () => {
  const work = (item: number) => (item === 2 ? Promise.reject(new Error("two")) : Promise.resolve());
  await expect(concurrently([1, 2, 3], 2, work)).rejects.toThrow("two");
});
