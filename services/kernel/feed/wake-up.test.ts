import { expect, test, vi } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { execute, one, sql } from "../postgres/query.ts";
import { FEED, restoreFeed, silent } from "../testing/feed.ts";
import { HOUR_MS } from "../values/duration.ts";
import { feedReader } from "./read.ts";
import { coins, tillAndShop, WAIT } from "../testing/till-and-shop.ts";

test("after a lost message the next poll reads the entries", async () => {
  const { shop, publish, consume } = await tillAndShop();
  await using _consumer = await consume({ pollMs: 50 });
  await publish(1n, 2n);

  await waitFor(async () => expect(await coins(shop)).toEqual([1n, 2n]), WAIT);
});

test("a wake-up signal that arrives during a read leads to another read", async () => {
  const { till, shop, publish, consume } = await tillAndShop();
  const reader = feedReader(till, [FEED]);
  const [hasRead, mayAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using consumer = await consume({
    async read(request) {
      const response = await reader.read(request);
      hasRead.resolve();
      await mayAnswer.promise;
      return response;
    },
    pollMs: HOUR_MS,
  });
  await hasRead.promise;
  await publish(1n);
  consumer.wake(1n);
  mayAnswer.resolve();

  await waitFor(async () => expect(await coins(shop)).toEqual([1n]), WAIT);
});

test("a duplicate or forged message changes nothing", async () => {
  const { shop, publish, consume, reads } = await tillAndShop();
  await using consumer = await consume();
  await publish(1n, 2n);
  await consumer.catchUp(2n);

  const before = reads.length;
  await consumer.catchUp(2n);
  await consumer.catchUp(1n);
  consumer.wake(2n);
  await consumer.catchUp(2n);
  expect(reads.length - before).toBeLessThan(2);
  await consumer.catchUp(9_000_000_000n);
  consumer.wake(9_000_000_000n);
  await waitFor(() => expect(consumer.state()).toMatchObject({ number: 2n, lag: 0n, stopped: undefined }), WAIT);

  expect(await coins(shop)).toEqual([1n, 2n]);
  await publish(3n);
  await consumer.catchUp(3n);
  expect(await coins(shop)).toEqual([1n, 2n, 3n]);
});

test("catchUp fails while the feed cannot be read, so that its message is not acked", async () => {
  const { shop, publish, consume } = await tillAndShop();
  const read = async () => Promise.reject(new Error("till cannot be reached"));
  await using consumer = await consume({ read });
  await publish(1n);

  await expect(consumer.catchUp(1n)).rejects.toThrow("cannot be reached");
  expect(await coins(shop)).toEqual([]);
});

test("a feed that was rewound stops with an error in the log, and reads no entries of the other history", async () => {
  const { till, shop, publish, consume } = await tillAndShop();
  const error = vi.fn();
  await using consumer = await consume({ log: { ...silent, error } });
  await publish(1n, 2n, 3n);
  await consumer.catchUp(3n);
  await restoreFeed(till, 1n);
  await publish(20n, 30n, 40n);

  await expect(consumer.catchUp(4n)).rejects.toThrow("is stopped: feed_rewound");
  expect(consumer.state().isRewound).toBe(true);

  expect(await coins(shop)).toEqual([1n, 2n, 3n]);
  expect(error).toHaveBeenCalledExactlyOnceWith(
    "feed stopped, follow the runbook of PammFeedStopped",
    expect.objectContaining({ number: 3n, reason: "feed_rewound" }),
  );
});

test("a consumer whose database lost the same commits as the feed continues at its own row without a restart", async () => {
  const { till, shop, publish, consume } = await tillAndShop();
  await using consumer = await consume();
  await publish(1n, 2n, 3n);
  await consumer.catchUp(3n);
  await restoreFeed(till, 1n);
  await execute(shop, sql`delete from coin where cents > 1`);
  const { id } = await one<{ id: bigint }>(till, sql`select id from outbox where number = 1`);
  await execute(shop, sql`update feed_cursor set number = 1, entry_id = ${id}`);
  await publish(20n, 30n, 40n);

  await consumer.catchUp(4n);

  expect(await coins(shop)).toEqual([1n, 20n, 30n, 40n]);
});

test("entries that only the database of the consumer has lost are received again after some polls, without a restart or a new entry", async () => {
  const { till, shop, publish, consume } = await tillAndShop();
  await using consumer = await consume({ pollMs: 5, minGapMs: 0 });
  await publish(1n, 2n, 3n);
  await consumer.catchUp(3n);
  await execute(shop, sql`delete from coin where cents > 1`);
  const { id } = await one<{ id: bigint }>(till, sql`select id from outbox where number = 1`);
  await execute(shop, sql`update feed_cursor set number = 1, entry_id = ${id}`);

  await waitFor(async () => expect(await coins(shop)).toEqual([1n, 2n, 3n]), WAIT);
});

test("a reader that has not received deleted entries stops with an error in the log", async () => {
  const { till, shop, publish, consume } = await tillAndShop();
  await publish(1n, 2n, 3n);
  await execute(till, sql`delete from outbox where number < 3`);
  const error = vi.fn();
  await using consumer = await consume({ log: { ...silent, error } });

  await waitFor(() => expect(consumer.state().stopped).toContain("feed_truncated: Entries of"), WAIT);
  expect(await coins(shop)).toEqual([]);
  expect(error).toHaveBeenCalledOnce();
});
