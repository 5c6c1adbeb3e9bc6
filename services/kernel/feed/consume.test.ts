import { expect, test, vi } from "vitest";
import { Money } from "#proto/pamm/common/v1/money.ts";
import { metricValues } from "#test/support/metric-values.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { execute, many, sql } from "../postgres/query.ts";
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

test("one of two replicas reads while it receives, the other one takes over when it does not", async () => {
  const { till, shop, publish, consume } = await tillAndShop();
  const reader = feedReader(till, [FEED]);
  const reads = { one: 0, other: 0 };
  const counting = (name: keyof typeof reads) => ({
    read(request: Parameters<typeof reader.read>[0]) {
      reads[name] += 1;
      return reader.read(request);
    },
  });
  const one = await consume(counting("one"));
  await using other = await consume(counting("other"));
  const publishTo = async (amount: bigint, ...consumers: readonly FeedConsumer[]) => {
    await publish(amount);
    await Promise.all(consumers.map((consumer) => consumer.catchUp(amount)));
  };
  // One of the two is overtaken by the other one at the first of these, or reads them all.
  for (let amount = 1n; amount <= 20n; amount += 1n) await publishTo(amount, one, other);
  const before = { ...reads };
  for (let amount = 21n; amount <= 30n; amount += 1n) await publishTo(amount, one, other);
  const during = [reads.one - before.one, reads.other - before.other];

  await one[Symbol.asyncDispose]();
  await publishTo(31n, other);

  expect(Math.min(...during)).toBeLessThanOrEqual(1);
  expect(await coins(shop)).toEqual(Array.from({ length: 31 }, (_, index) => BigInt(index + 1)));
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
    expect(await many(shop, sql`select number, type from feed_poison`)).toEqual([
      { number: 2n, type: "till.v1.Unknown" },
    ]);
  }
  const decoding = { ...Money, $type: "till.v1.Unknown" } as unknown as typeof Money;
  await using consumer = await consume({ events: [Money, decoding] });

  await waitFor(async () => expect(await coins(shop)).toEqual([1n, 2n, 3n]), WAIT);
  expect(consumer.state().stopped).toBeUndefined();
});
