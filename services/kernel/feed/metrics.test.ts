import { register } from "prom-client";
import { expect, test, vi } from "vitest";
import { acquireLease } from "../postgres/lease.ts";
import { execute, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../testing/database.ts";
import { feedReader } from "./read.ts";
import { startRelay } from "./relay.ts";
import { FEED, silent, tellCents } from "../testing/feed.ts";
import { coins, tillAndShop, WAIT } from "../testing/till-and-shop.ts";

async function shown(name: string): Promise<number> {
  const metric = await register.getSingleMetric(name)?.get();
  const value = metric?.values.find(({ labels }) => labels["feed"] === FEED || labels["feed"] === undefined);
  return value?.value ?? Number.NaN;
}

test("what waits for its number, and then for the broker, is shown with its age, also by who does not number", async () => {
  const { pool } = await kernelDatabase();
  await acquireLease(pool, { name: "feed-relay", holder: "who is gone", ttlMs: 60_000 });
  let isAway = true;
  const publish = async (): Promise<void> => {
    if (isAway) throw new Error("no responders");
  };
  const relay = { service: "till", pool, feeds: [FEED], publish, nudge: () => undefined, log: silent };
  await using _relay = await startRelay(relay);
  await tellCents(pool, [1n], FEED, "coin.v1.told");
  await execute(pool, sql`update outbox set told_at = told_at - interval '40 seconds'`);
  await vi.waitFor(async () => expect(await shown("pamm_outbox_oldest_unnumbered_seconds")).toBeGreaterThan(40), WAIT);

  await execute(pool, sql`update lease set expires_at = '-infinity'`);
  await vi.waitFor(async () => expect(await shown("pamm_outbox_oldest_unpublished_seconds")).toBeGreaterThan(40), WAIT);
  expect(await shown("pamm_outbox_oldest_unnumbered_seconds")).toBe(0);
  isAway = false;
  await vi.waitFor(async () => expect(await shown("pamm_outbox_oldest_unpublished_seconds")).toBe(0), WAIT);
});

test("a reader whose owner is away shows how far it is behind, and since when nobody has answered", async () => {
  const { till, shop, tellNumbered, follow } = await tillAndShop();
  const reader = feedReader(till, [FEED]);
  let isAway = false;
  let unanswered = 0;
  await using consumer = await follow({
    async read(request) {
      if (!isAway) return await reader.read(request);
      unanswered += 1;
      throw new Error("till cannot be reached");
    },
  });
  await tellNumbered(1n);
  await vi.waitFor(async () => expect(await coins(shop)).toEqual([1n]), WAIT);
  await vi.waitFor(async () => expect(await shown("pamm_feed_lag_entries")).toBe(0), WAIT);
  isAway = true;
  consumer.wake(4n);
  expect(await shown("pamm_feed_lag_entries")).toBe(3);
  await vi.waitFor(() => expect(unanswered).toBeGreaterThan(0), WAIT);
  const away = await shown("pamm_feed_read_timestamp_seconds");
  await vi.waitFor(() => expect(unanswered).toBeGreaterThan(2), WAIT);
  expect(await shown("pamm_feed_read_timestamp_seconds")).toBe(away);
  isAway = false;
  await vi.waitFor(async () => expect(await shown("pamm_feed_read_timestamp_seconds")).toBeGreaterThan(away), WAIT);
  expect(await shown("pamm_feed_stopped")).toBe(0);
});

test("a reader that stands still until a person acts says so", async () => {
  const { shop, tellNumbered, follow } = await tillAndShop();
  await tellNumbered(1n);
  await using consumer = await follow({
    read: async (request) => {
      if (request.afterNumber === 0n) return { entries: [], lastNumber: 0n };
      throw new Error("nobody asks for this");
    },
  });
  const broken = { number: 1n, id: 10n, type: "no.such.Type", payload: new Uint8Array([255]), requestId: "" };
  await expect(consumer.deliver([{ ...broken, toldAt: new Date() }])).rejects.toThrow("stopped");
  expect(await coins(shop)).toEqual([]);
  await vi.waitFor(async () => expect(await shown("pamm_feed_stopped")).toBe(1), WAIT);
});
