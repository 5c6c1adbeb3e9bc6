import { expect, test, vi } from "vitest";
import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import { Money } from "#proto/pamm/common/v1/money.ts";
import type { Pool } from "../postgres/pool.ts";
import { execute, many, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../postgres/test-database.ts";
import { consumeFeed } from "./consume.ts";
import type { ConsumerOptions, FeedConsumer } from "./consume.ts";
import { feedReader } from "./read.ts";
import { FEED, numberAll, silent, tellCents } from "./test-feed.ts";

const WAIT = { timeout: 8_000, interval: 10 };

/** A service that tells and a service that follows, each with a database of its own. */
async function tillAndShop() {
  const [till, shop] = [(await kernelDatabase("till")).pool, (await kernelDatabase("shop")).pool];
  await execute(shop, sql`create table coin (cents bigint)`);
  const reader = feedReader(till, [FEED]);
  const reads: bigint[] = [];
  return {
    till,
    shop,
    reads,
    async tellNumbered(...amounts: bigint[]): Promise<void> {
      await tellCents(till, amounts);
      await numberAll(till);
    },
    entries: async (): Promise<FeedEntry[]> =>
      (await reader.read({ feed: FEED, afterNumber: 0n, afterId: 0n, limit: 500 })).entries,
    follow: (over: Partial<ConsumerOptions<typeof Money>> = {}): Promise<FeedConsumer> =>
      consumeFeed<typeof Money>({
        feed: FEED,
        events: [Money],
        pool: shop,
        arrival: "polled",
        log: silent,
        async read(request) {
          reads.push(request.afterNumber);
          return reader.read(request);
        },
        async file(tx, filed) {
          await execute(
            tx,
            sql`insert into coin select unnest(${filed.map(({ message }) => message.minorUnits)}::bigint[])`,
          );
        },
        ...over,
      }),
  };
}

const coins = async (pool: Pool) =>
  (await many<{ cents: bigint }>(pool, sql`select cents from coin`)).map(({ cents }) => cents);

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

test("entries that a broker brings are filed before they may be acked, without reading", async () => {
  const { shop, tellNumbered, entries, follow, reads } = await tillAndShop();
  await using consumer = await follow({ arrival: "pushed" });
  await vi.waitFor(() => expect(reads).toEqual([0n]), WAIT);
  await tellNumbered(1n, 2n, 3n);
  const [first, second, third] = await entries();
  if (first === undefined || second === undefined || third === undefined) throw new Error("not told");

  await consumer.deliver([second, first]);
  expect(await coins(shop)).toEqual([1n, 2n]);
  await consumer.deliver([second, third]);
  expect(await coins(shop)).toEqual([1n, 2n, 3n]);
  expect(reads).toEqual([0n]);
});

test("what a broker lost is read before what it brought is filed", async () => {
  const { shop, tellNumbered, entries, follow } = await tillAndShop();
  await using consumer = await follow({ arrival: "pushed" });
  await tellNumbered(1n, 2n, 3n, 4n);

  await consumer.deliver((await entries()).slice(2));

  expect(await coins(shop)).toEqual([1n, 2n, 3n, 4n]);
});

test("a delivery is refused while the gap before it cannot be read", async () => {
  const { shop, tellNumbered, entries, follow } = await tillAndShop();
  const read = async () => Promise.reject(new Error("till cannot be reached"));
  await using consumer = await follow({ arrival: "pushed", read });
  await tellNumbered(1n, 2n);
  const [first, second] = await entries();
  if (first === undefined || second === undefined) throw new Error("not told");

  await expect(consumer.deliver([second])).rejects.toThrow("cannot be reached");
  expect(await coins(shop)).toEqual([]);
  await consumer.deliver([first, second]);
  expect(await coins(shop)).toEqual([1n, 2n]);
});

test("a broker that is silent about what is there is read past within two heartbeats", async () => {
  const { shop, tellNumbered, follow, reads } = await tillAndShop();
  await using consumer = await follow({ arrival: "pushed" });
  await vi.waitFor(() => expect(reads).toEqual([0n]), WAIT);
  await tellNumbered(1n, 2n);

  consumer.wake(2n);
  expect(consumer.state().lag).toBe(2n);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await coins(shop)).toEqual([]);
  consumer.wake(2n);

  await vi.waitFor(async () => expect(await coins(shop)).toEqual([1n, 2n]), { timeout: 1_000, interval: 10 });
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

test("an owner whose database was restored stops the feed instead of mixing two histories", async () => {
  const { till, shop, tellNumbered, entries, follow } = await tillAndShop();
  await using consumer = await follow({ arrival: "pushed" });
  await tellNumbered(1n, 2n, 3n);
  await consumer.deliver(await entries());
  await execute(till, sql`delete from outbox where number > 1`);
  await tellNumbered(20n, 30n, 40n);

  await expect(consumer.deliver(await entries())).rejects.toThrow("is stopped: rewound");

  expect(await coins(shop)).toEqual([1n, 2n, 3n]);
});

test("an owner that is behind its reader is found out by its heartbeat", async () => {
  const { till, tellNumbered, entries, follow } = await tillAndShop();
  await using consumer = await follow({ arrival: "pushed" });
  await tellNumbered(1n, 2n, 3n);
  await consumer.deliver(await entries());
  await execute(till, sql`delete from outbox where number > 1`);

  consumer.wake(1n);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  consumer.wake(1n);

  await vi.waitFor(() => expect(consumer.state().stopped).toContain("rewound"), WAIT);
});
