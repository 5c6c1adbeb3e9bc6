import { register } from "prom-client";
import { expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { execute, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../testing/database.ts";
import { feedReader } from "./read.ts";
import { FEED, publishCents, runRelay, silent } from "../testing/feed.ts";
import { coins, tillAndShop, WAIT } from "../testing/till-and-shop.ts";

async function metricValue(name: string): Promise<number> {
  const metric = await register.getSingleMetric(name)?.get();
  const value = metric?.values.find(({ labels }) => labels["feed"] === FEED || labels["feed"] === undefined);
  return value?.value ?? Number.NaN;
}

test("the age of the oldest entry that is not forwarded is shown, whichever process has published it", async () => {
  const { pool } = await kernelDatabase();
  await publishCents(pool, [1n], FEED, "coin.v1.published");
  await execute(pool, sql`update outbox set published_at = published_at - interval '40 seconds'`);
  let isUnreachable = true;
  const forward = async (): Promise<void> => {
    if (isUnreachable) throw new Error("no responders");
  };
  const relay = { service: "till", pool, forward, signal: () => undefined, log: silent };
  await using _relay = runRelay(relay);
  await waitFor(
    async () => expect(await metricValue("pamm_outbox_oldest_unforwarded_seconds")).toBeGreaterThan(40),
    WAIT,
  );
  isUnreachable = false;
  await waitFor(async () => expect(await metricValue("pamm_outbox_oldest_unforwarded_seconds")).toBe(0), WAIT);
});

test("while the owner of a feed is unreachable, the metrics show the lag and the time of its last answer", async () => {
  const { till, shop, publish, consume } = await tillAndShop();
  const reader = feedReader(till, [FEED]);
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
  await waitFor(async () => expect(await metricValue("pamm_feed_lag_entries")).toBe(0), WAIT);
  isUnreachable = true;
  consumer.wake(4n);
  expect(await metricValue("pamm_feed_lag_entries")).toBe(3);
  await waitFor(() => expect(unanswered).toBeGreaterThan(0), WAIT);
  const lastRead = await metricValue("pamm_feed_read_timestamp_seconds");
  await waitFor(() => expect(unanswered).toBeGreaterThan(2), WAIT);
  expect(await metricValue("pamm_feed_read_timestamp_seconds")).toBe(lastRead);
  isUnreachable = false;
  await waitFor(
    async () => expect(await metricValue("pamm_feed_read_timestamp_seconds")).toBeGreaterThan(lastRead),
    WAIT,
  );
  expect(await metricValue("pamm_feed_stopped")).toBe(0);
});
