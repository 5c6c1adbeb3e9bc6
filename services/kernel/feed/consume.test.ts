import { expect, test, vi } from "vitest";
import { Money } from "#proto/pamm/common/v1/money.ts";
import { metricValues } from "#test/support/metric-values.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { execute, sql } from "../postgres/query.ts";
import type { FeedConsumer } from "./consume.ts";
import { feedReader } from "./read.ts";
import { FEED, silent } from "../testing/feed.ts";
import { coins, tillAndShop, WAIT } from "../testing/till-and-shop.ts";

test("a consumer starts at the first entry, continues where it stopped, and receives each entry once", async () => {
  const { shop, publish, consume } = await tillAndShop();
  await publish(1n, 2n);
  {
    await using _first = await consume();
    await waitFor(async () => expect(await coins(shop)).toEqual([1n, 2n]), WAIT);
  }
  await publish(3n);
  await using consumer = await consume();

  await waitFor(async () => expect(await coins(shop)).toEqual([1n, 2n, 3n]), WAIT);
  expect(consumer.state()).toEqual({ feed: FEED, stopped: undefined, isRewound: false, number: 3n, lag: 0n });
});

test("several pages are read without a pause", async () => {
  const { shop, publish, consume, reads } = await tillAndShop();
  const amounts = Array.from({ length: 1_201 }, (_, index) => BigInt(index));
  await publish(...amounts);
  await using _consumer = await consume();

  await waitFor(async () => expect(await coins(shop)).toEqual(amounts), WAIT);
  expect(reads.slice(0, 3)).toEqual([0n, 500n, 1_000n]);
});

test("what is signalled while a page is received is read after the gap, together with what comes until then", async () => {
  const { till, shop, publish, consume } = await tillAndShop();
  const reader = feedReader(till, [FEED]);
  const minGapMs = 300;
  const pages: { readonly atMs: number; readonly entries: number }[] = [];
  const begun = Promise.withResolvers<FeedConsumer>();
  await using consumer = await consume({
    minGapMs,
    async read(request) {
      const atMs = performance.now();
      const page = await reader.read(request);
      if (page.entries.length > 0) pages.push({ atMs, entries: page.entries.length });
      return page;
    },
    async receive(tx, entries) {
      await execute(
        tx,
        sql`insert into coin (cents) select unnest(${entries.map(({ message }) => message.minorUnits)}::bigint[])`,
      );
      if (pages.length > 1) return;
      await publish(2n);
      (await begun.promise).wake(2n);
      await publish(3n);
    },
  });
  begun.resolve(consumer);
  await publish(1n);
  consumer.wake(1n);

  await waitFor(async () => expect(await coins(shop)).toEqual([1n, 2n, 3n]), WAIT);
  const [first, second] = pages;
  expect(second?.entries).toBe(2);
  expect(second!.atMs - first!.atMs).toBeGreaterThan(minGapMs / 2);
});

test("a consumer that is stopped does not wait for a pending read", async () => {
  const { consume } = await tillAndShop();
  const requested = Promise.withResolvers<void>();
  const read = (_: unknown, signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("cancelled")));
      requested.resolve();
    });
  const consumer = await consume({ read });
  await requested.promise;

  await expect(consumer[Symbol.asyncDispose]()).resolves.toBeUndefined();
});

test("a malformed entry stops its feed with an error in the log, until a restart with code that can decode it", async () => {
  const { till, shop, publish, consume } = await tillAndShop();
  await publish(1n, 2n, 3n);
  await execute(till, sql`update outbox set type = 'till.v1.Unknown' where number = 2`);
  const error = vi.fn();
  {
    await using stopped = await consume({ log: { ...silent, error } });
    await waitFor(() => expect(stopped.state().stopped).toBe("malformed: unknown type till.v1.Unknown"), WAIT);
    expect(stopped.state()).toMatchObject({ number: 1n, lag: 2n });
    expect(await coins(shop)).toEqual([1n]);
    expect(error).toHaveBeenCalledExactlyOnceWith(
      "feed stopped, follow the runbook of PammFeedStopped",
      expect.objectContaining({ feed: FEED, number: 1n, reason: "malformed" }),
    );
    // Its message is not acked.
    await expect(stopped.catchUp(3n)).rejects.toThrow("is stopped");
    expect(await metricValues("pamm_feed_stopped")).toMatchObject({ [FEED]: 1 });
  }
  const decoding = { ...Money, $type: "till.v1.Unknown" } as unknown as typeof Money;
  await using consumer = await consume({ events: [Money, decoding] });

  await waitFor(async () => expect(await coins(shop)).toEqual([1n, 2n, 3n]), WAIT);
  expect(consumer.state().stopped).toBeUndefined();
});

test("while the owner of a feed is unreachable, the metrics show the lag and the time of its last answer", async () => {
  const { till, shop, publish, consume } = await tillAndShop();
  const reader = feedReader(till, [FEED]);
  const shown = async (name: string) => (await metricValues(name))[FEED] ?? Number.NaN;
  let isUnreachable = false;
  let unanswered = 0;
  await using consumer = await consume({
    pollMs: 50,
    async read(request) {
      if (!isUnreachable) return await reader.read(request);
      unanswered += 1;
      throw new Error("till cannot be reached");
    },
  });
  await publish(1n);
  await waitFor(async () => expect(await coins(shop)).toEqual([1n]), WAIT);
  await waitFor(async () => expect(await shown("pamm_feed_lag_entries")).toBe(0), WAIT);
  isUnreachable = true;
  consumer.wake(4n);
  expect(await shown("pamm_feed_lag_entries")).toBe(3);
  await waitFor(() => expect(unanswered).toBeGreaterThan(0), WAIT);
  const lastRead = await shown("pamm_feed_read_timestamp_seconds");
  await waitFor(() => expect(unanswered).toBeGreaterThan(2), WAIT);
  expect(await shown("pamm_feed_read_timestamp_seconds")).toBe(lastRead);
  isUnreachable = false;
  await waitFor(async () => expect(await shown("pamm_feed_read_timestamp_seconds")).toBeGreaterThan(lastRead), WAIT);
  expect(await shown("pamm_feed_stopped")).toBe(0);
});
