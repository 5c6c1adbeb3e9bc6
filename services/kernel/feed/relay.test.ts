import { expect, test, vi } from "vitest";
import { createPool } from "../postgres/pool.ts";
import type { Pool } from "../postgres/pool.ts";
import { execute, many, one, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../testing/database.ts";
import { startRelay } from "./relay.ts";
import type { Relay, RelayOptions } from "./relay.ts";
import { FEED, silent, tellCents } from "../testing/feed.ts";

const WAIT = { timeout: 5_000, interval: 10 };

type Published = { readonly subject: string; readonly number: string | undefined; readonly id: string | undefined };

/** A broker that keeps what it is given, and a reader that hears the nudges. */
function listener() {
  const published: Published[] = [];
  const nudges: [string, bigint][] = [];
  const publish: RelayOptions["publish"] = async (subject, _payload, headers) => {
    published.push({ subject, number: headers["Feed-Number"], id: headers["Nats-Msg-Id"] });
  };
  return { published, nudges, publish, nudge: (feed: string, last: bigint) => void nudges.push([feed, last]) };
}

async function relayOn(pool: Pool, over: Partial<RelayOptions> = {}): Promise<Relay> {
  const { publish, nudge } = listener();
  return startRelay({ service: "till", pool, feeds: [FEED], publish, nudge, log: silent, ...over });
}

const countUnpublished = async (pool: Pool) =>
  (await one<{ count: bigint }>(pool, sql`select count(*) from outbox where published_at is null`)).count;

test("what is told is numbered at once, readers are nudged, and what has a subject is published in order", async () => {
  const { pool } = await kernelDatabase();
  const heard = listener();
  await using _relay = await relayOn(pool, heard);
  await vi.waitFor(() => expect(heard.nudges).toContainEqual([FEED, 0n]), WAIT);

  const before = performance.now();
  await tellCents(pool, [1n, 2n], FEED, "coin.v1.told");
  await tellCents(pool, [3n]);
  await vi.waitFor(() => expect(heard.nudges).toContainEqual([FEED, 3n]), WAIT);
  expect(performance.now() - before).toBeLessThan(200);

  await vi.waitFor(async () => expect(await countUnpublished(pool)).toBe(1n), WAIT);
  const ids = (await many<{ id: bigint }>(pool, sql`select id from outbox order by id`)).map(({ id }) => id);
  expect(heard.published).toEqual([
    { subject: "coin.v1.told", number: "1", id: `till:${ids[0]}` },
    { subject: "coin.v1.told", number: "2", id: `till:${ids[1]}` },
  ]);
});

test("what another process told is found without a wake-up", async () => {
  const { pool } = await kernelDatabase();
  const heard = listener();
  await using _relay = await relayOn(pool, heard);
  await vi.waitFor(() => expect(heard.nudges).toHaveLength(1), WAIT);

  await execute(pool, sql`insert into outbox (feed, type, payload) values (${FEED}, 'x', '')`);

  await vi.waitFor(() => expect(heard.nudges).toContainEqual([FEED, 1n]), WAIT);
});

test("silence is broken by the last number once a second", async () => {
  const { pool } = await kernelDatabase();
  const heard = listener();
  await using _relay = await relayOn(pool, heard);

  await vi.waitFor(
    () =>
      expect(heard.nudges).toEqual([
        [FEED, 0n],
        [FEED, 0n],
      ]),
    WAIT,
  );
});

test("a broker that is away stops no numbering, and gets everything when it is back", async () => {
  const { pool } = await kernelDatabase();
  const heard = listener();
  let isAway = true;
  const publish: RelayOptions["publish"] = async (...message) => {
    if (isAway) throw new Error("no responders");
    await heard.publish(...message);
  };
  await using _relay = await relayOn(pool, { ...heard, publish });

  await tellCents(pool, [1n, 2n], FEED, "coin.v1.told");
  await tellCents(pool, [3n], FEED, "coin.v1.told");
  await vi.waitFor(() => expect(heard.nudges).toContainEqual([FEED, 3n]), WAIT);
  expect(heard.published).toEqual([]);
  isAway = false;

  await vi.waitFor(async () => expect(await countUnpublished(pool)).toBe(0n), WAIT);
  expect(heard.published.map(({ number }) => number)).toEqual(["1", "2", "3"]);
});

test("one message that the broker will not store does not hold back the others", async () => {
  const { pool } = await kernelDatabase();
  const heard = listener();
  const publish: RelayOptions["publish"] = async (subject, ...rest) => {
    if (subject === "coin.v1.bad") throw new Error("message too large");
    await heard.publish(subject, ...rest);
  };
  await using _relay = await relayOn(pool, { ...heard, publish });
  await tellCents(pool, [1n], FEED, "coin.v1.bad");
  await tellCents(pool, [2n, 3n], FEED, "coin.v1.good");

  await vi.waitFor(async () => expect(await countUnpublished(pool)).toBe(1n), WAIT);
  expect(heard.published.map(({ number }) => number)).toEqual(["2", "3"]);
});

test("of two relays one works, and the other goes on when it stops", async () => {
  const { pool } = await kernelDatabase();
  const [first, second] = [listener(), listener()];
  const firstRelay = await relayOn(pool, first);
  await vi.waitFor(() => expect(firstRelay.isHolder()).toBe(true), WAIT);
  await using secondRelay = await relayOn(pool, second);
  await tellCents(pool, [1n], FEED, "coin.v1.told");
  await vi.waitFor(() => expect(first.published).toHaveLength(1), WAIT);
  expect(secondRelay.isHolder()).toBe(false);

  await firstRelay[Symbol.asyncDispose]();
  await tellCents(pool, [2n], FEED, "coin.v1.told");

  await vi.waitFor(() => expect(second.published.map(({ number }) => number)).toEqual(["2"]), WAIT);
  expect(second.nudges).toContainEqual([FEED, 2n]);
  expect(first.published).toHaveLength(1);
});

test("connections that die are waited for, and nothing that was told is lost", async () => {
  const database = await kernelDatabase();
  const heard = listener();
  await using _relay = await relayOn(database.pool, heard);
  await tellCents(database.pool, [1n], FEED, "coin.v1.told");
  await vi.waitFor(() => expect(heard.published).toHaveLength(1), WAIT);

  await many(
    database.pool,
    sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  );
  await using fresh = createPool({ url: database.url, schema: "kernel", applicationName: "teller", max: 1 });
  await tellCents(fresh, [2n], FEED, "coin.v1.told");

  await vi.waitFor(() => expect(heard.published.map(({ number }) => number)).toEqual(["1", "2"]), WAIT);
});

test("a defect is told to the service, which must not live with a relay that does not work", async () => {
  const { pool } = await kernelDatabase();
  await using relay = await relayOn(pool);

  const fault = relay.fault.catch((error: unknown) => error);

  await execute(pool, sql`drop table outbox`);

  expect(await fault).toMatchObject({ message: expect.stringContaining('relation "outbox" does not exist') });
});
