import { expect, test, vi } from "vitest";
import { Money } from "#proto/pamm/common/v1/money.ts";
import { execute, many, sql } from "../postgres/query.ts";
import { feedReader } from "./read.ts";
import { FEED, silent } from "../testing/feed.ts";
import { coins, tillAndShop, WAIT } from "../testing/till-and-shop.ts";

test("a follower begins at the start, goes on from where it stopped, and files everything once", async () => {
  const { shop, tellNumbered, follow } = await tillAndShop();
  await tellNumbered(1n, 2n);
  {
    await using _first = await follow();
    await vi.waitFor(async () => expect(await coins(shop)).toEqual([1n, 2n]), WAIT);
  }
  await tellNumbered(3n);
  await using consumer = await follow();

  await vi.waitFor(async () => expect(await coins(shop)).toEqual([1n, 2n, 3n]), WAIT);
  expect(consumer.state()).toEqual({ feed: FEED, stopped: undefined, number: 3n, lag: 0n });
});

test("more than a page is read at once", async () => {
  const { shop, tellNumbered, follow, reads } = await tillAndShop();
  const amounts = Array.from({ length: 1_201 }, (_, index) => BigInt(index));
  await tellNumbered(...amounts);
  await using _consumer = await follow({ arrival: "pushed" });

  await vi.waitFor(async () => expect(await coins(shop)).toEqual(amounts), WAIT);
  expect(reads).toEqual([0n, 500n, 1_000n]);
});

test("two replicas file each entry once", async () => {
  const { shop, tellNumbered, follow } = await tillAndShop();
  await using _one = await follow();
  await using other = await follow();

  for (let amount = 1n; amount <= 20n; amount += 1n) {
    await tellNumbered(amount);
    other.wake(amount);
  }

  await vi.waitFor(async () => expect(await coins(shop)).toHaveLength(20), WAIT);
  expect(await coins(shop)).toEqual(Array.from({ length: 20 }, (_, index) => BigInt(index + 1)));
});

test("an owner that cannot be reached is asked again", async () => {
  const { till, shop, tellNumbered, follow } = await tillAndShop();
  const reader = feedReader(till, [FEED]);
  let isAway = true;
  await using _consumer = await follow({
    read: (request) => (isAway ? Promise.reject(new Error("till cannot be reached")) : reader.read(request)),
  });
  await tellNumbered(1n);
  await new Promise((resolve) => setTimeout(resolve, 300));
  isAway = false;

  await vi.waitFor(async () => expect(await coins(shop)).toEqual([1n]), WAIT);
});

test("a follower that stops waits for no answer", async () => {
  const { follow } = await tillAndShop();
  const asked = Promise.withResolvers<void>();
  const read = (_: unknown, signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("cancelled")));
      asked.resolve();
    });
  const consumer = await follow({ read });
  await asked.promise;

  await consumer[Symbol.asyncDispose]();
});

test("a malformed entry stops its feed, aloud, and nothing is acked from then on", async () => {
  const { till, shop, tellNumbered, entries, follow } = await tillAndShop();
  await tellNumbered(1n, 2n, 3n);
  await execute(till, sql`update outbox set type = 'till.v1.Unheard' where number = 2`);
  const error = vi.fn();
  await using consumer = await follow({ log: { ...silent, error } });

  await vi.waitFor(() => expect(consumer.state().stopped).toBe("malformed: unknown type till.v1.Unheard"), WAIT);
  expect(consumer.state()).toMatchObject({ number: 1n, lag: 2n });
  expect(await coins(shop)).toEqual([1n]);
  expect(error).toHaveBeenCalledExactlyOnceWith(
    "a feed is stopped until a person acts",
    expect.objectContaining({ feed: FEED, number: 1n, reason: "malformed" }),
  );
  await expect(consumer.deliver(await entries())).rejects.toThrow("is stopped");
  expect(await many(shop, sql`select number, type from feed_poison`)).toEqual([
    { number: 2n, type: "till.v1.Unheard" },
  ]);
});

test("a stopped feed goes on after a start with code that understands the entry", async () => {
  const { till, shop, tellNumbered, follow } = await tillAndShop();
  await tellNumbered(1n, 2n);
  await execute(till, sql`update outbox set type = 'till.v1.Unheard' where number = 2`);
  {
    await using stopped = await follow();
    await vi.waitFor(() => expect(stopped.state().stopped).toBeDefined(), WAIT);
  }
  const understanding = { ...Money, $type: "till.v1.Unheard" } as unknown as typeof Money;
  await using consumer = await follow({ events: [Money, understanding] });

  await vi.waitFor(async () => expect(await coins(shop)).toEqual([1n, 2n]), WAIT);
  expect(consumer.state().stopped).toBeUndefined();
});
