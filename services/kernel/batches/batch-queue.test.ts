import { expect, test } from "vitest";
import { batchQueue } from "./batch-queue.ts";

type Numbered = { readonly number: number };

const USUAL = { name: "of the test", maxItems: 64, maxWaiting: 100 };

/** A queue whose batches end one at a time, when the test says so. */
function aQueue(
  options: { readonly maxItems?: number; readonly maxWaiting?: number; readonly maxBatches?: number } = {},
) {
  const batches: { readonly items: readonly number[]; readonly end: () => void }[] = [];
  const queue = batchQueue<number, Numbered>({
    ...USUAL,
    ...options,
    async run(items) {
      const { promise, resolve } = Promise.withResolvers<void>();
      batches.push({ items, end: resolve });
      await promise;
      return items.map((number) => ({ number }));
    },
  });
  return { ...queue, batches };
}

async function started(batches: readonly unknown[], count: number): Promise<void> {
  await expect.poll(() => batches.length).toBe(count);
}

test("items that were added while a batch ran are the next batch", async () => {
  const { add, batches } = aQueue();
  const first = add(1);
  await started(batches, 1);
  const others = [add(2), add(3), add(4)];
  batches[0]?.end();

  expect(await first).toEqual({ number: 1 });
  await started(batches, 2);
  batches[1]?.end();

  expect(await Promise.all(others)).toEqual([{ number: 2 }, { number: 3 }, { number: 4 }]);
  expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3, 4]]);
});

test("items of one turn of the event loop are one batch, of at most the maximum", async () => {
  const { add, batches } = aQueue({ maxItems: 2, maxBatches: 2 });
  const all = [add(1), add(2), add(3)];
  await started(batches, 2);
  for (const { end } of batches) end();
  await Promise.all(all);

  expect(batches.map(({ items }) => items)).toEqual([[1, 2], [3]]);
});

test("of more items than fit into a batch, those with the earlier deadline come first", async () => {
  const { add, batches } = aQueue({ maxItems: 1 });
  const now = performance.now();
  const all = [add(1, now + 30_000), add(2, now + 20_000), add(3, now + 10_000)];
  for (let each = 0; each < 3; each += 1) {
    await started(batches, each + 1);
    batches[each]?.end();
  }
  await Promise.all(all);

  expect(batches.map(({ items }) => items)).toEqual([[3], [2], [1]]);
});

test("an item whose deadline has passed is refused and in no batch", async () => {
  const { add, batches } = aQueue();
  const late = add(1, performance.now() - 1);
  const inTime = add(2);
  await expect(late).rejects.toMatchObject({ code: "deadline_exceeded", outcome: "not_executed" });
  await started(batches, 1);
  batches[0]?.end();
  await inTime;

  expect(batches.map(({ items }) => items)).toEqual([[2]]);
});

test("an item is refused as busy when too many wait", async () => {
  const { add, batches } = aQueue({ maxWaiting: 1 });
  const first = add(1);
  await expect(add(2)).rejects.toMatchObject({ code: "busy", outcome: "not_executed" });
  await started(batches, 1);
  batches[0]?.end();

  expect(await first).toEqual({ number: 1 });
});

test("two items with one key are in different batches, in the order in which they were added", async () => {
  const batches: string[][] = [];
  const { add } = batchQueue<string, { readonly text: string }>({
    ...USUAL,
    keyOf: (item) => item.slice(0, 1),
    async run(items) {
      batches.push([...items]);
      return items.map((text) => ({ text }));
    },
  });
  await Promise.all(["a1", "a2", "b1", "a3"].map((item) => add(item)));

  expect(batches).toEqual([["a1", "b1"], ["a2"], ["a3"]]);
});

test("the error of one item fails no other item", async () => {
  const { add } = batchQueue<number, Numbered>({
    ...USUAL,
    run: async (items) => items.map((number) => (number === 2 ? new Error("refused") : { number })),
  });

  expect(await Promise.allSettled([add(1), add(2), add(3)])).toMatchObject([
    { value: { number: 1 } },
    { reason: { message: "refused" } },
    { value: { number: 3 } },
  ]);
});

test("a batch that failed as a whole and did nothing is repeated in halves, until only the failing item fails", async () => {
  const batches: number[][] = [];
  const { add } = batchQueue<number, Numbered>({
    ...USUAL,
    maySplit: () => true,
    async run(items) {
      batches.push([...items]);
      if (items.includes(3)) throw new Error("violates a constraint");
      return items.map((number) => ({ number }));
    },
  });
  const results = await Promise.allSettled([1, 2, 3, 4].map((item) => add(item)));

  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  expect(batches).toEqual([[1, 2, 3, 4], [1, 2], [3, 4], [3], [4]]);
});

test("a batch whose effects are unknown is not repeated: its error is that of every item", async () => {
  let runs = 0;
  const { add } = batchQueue<number, Numbered>({
    ...USUAL,
    run: async () => {
      runs += 1;
      throw new Error("commit unknown");
    },
  });
  const results = await Promise.allSettled([add(1), add(2)]);

  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(runs).toBe(1);
});

test("a batch has no more items than what was prepared for it allows, and gets what was prepared", async () => {
  const batches: [number, number][] = [];
  const { add } = batchQueue<number, Numbered, { readonly maxItems: number; readonly sessions: number }>({
    ...USUAL,
    prepare: async (waiting) => ({ maxItems: 2, sessions: waiting.length }),
    async run(items, needs) {
      batches.push([items.length, needs?.sessions ?? 0]);
      return items.map((number) => ({ number }));
    },
  });
  await Promise.all([add(1), add(2), add(3)]);

  expect(batches).toEqual([
    [2, 3],
    [1, 1],
  ]);
});

test("an error of the preparation is that of the waiting items, and later items are processed", async () => {
  let isBroken = true;
  const { add } = batchQueue<number, Numbered>({
    ...USUAL,
    async prepare() {
      if (isBroken) throw new Error("no session");
      return { maxItems: 1 };
    },
    run: async (items) => items.map((number) => ({ number })),
  });
  await expect(add(1)).rejects.toThrow("no session");
  isBroken = false;

  expect(await add(2)).toEqual({ number: 2 });
});

test("each half of a repeated batch gets what was prepared for it, and not what the failed batch has used up", async () => {
  const used: number[] = [];
  let prepared = 0;
  const { add } = batchQueue<number, Numbered, { readonly maxItems: number; readonly number: number }>({
    ...USUAL,
    maySplit: () => true,
    prepare: async () => ({ maxItems: 64, number: (prepared += 1) }),
    async run(items, needs) {
      used.push(needs?.number ?? 0);
      if (items.includes(2)) throw new Error("violates a constraint");
      return items.map((number) => ({ number }));
    },
  });
  const results = await Promise.allSettled([1, 2].map((item) => add(item)));

  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(used).toEqual([1, 2, 3]);
});
