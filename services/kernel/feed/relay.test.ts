import { expect, test, vi } from "vitest";
import { createPool, type Pool } from "../postgres/pool.ts";
import { execute, many, one, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../testing/database.ts";
import { type Relay, type RelayOptions, startRelay } from "./relay.ts";
import { FEED, publishCents, silent } from "../testing/feed.ts";

const WAIT = { timeout: 5_000, interval: 10 };

type Forwarded = { readonly subject: string; readonly number: string | undefined; readonly id: string | undefined };

/** A broker that records the forwarded messages, and a reader that records the wake-up signals. */
function recordingBroker() {
  const forwarded: Forwarded[] = [];
  const signals: [string, bigint][] = [];
  const forward: RelayOptions["forward"] = async (subject, _payload, headers) => {
    forwarded.push({ subject, number: headers["Feed-Number"], id: headers["Nats-Msg-Id"] });
  };
  return { forwarded, signals, forward, signal: (feed: string, last: bigint) => void signals.push([feed, last]) };
}

async function relayOn(pool: Pool, over: Partial<RelayOptions> = {}): Promise<Relay> {
  const { forward, signal } = recordingBroker();
  return startRelay({ service: "till", pool, feeds: [FEED], forward, signal, log: silent, ...over });
}

const countUnforwarded = async (pool: Pool) =>
  (await one<{ count: bigint }>(pool, sql`select count(*) from outbox where forwarded_at is null`)).count;

test("an event is sequenced at once, readers are signalled, and an event with a subject is forwarded in order", async () => {
  const { pool } = await kernelDatabase();
  const broker = recordingBroker();
  await using relay = await relayOn(pool, broker);
  await vi.waitFor(() => expect(relay.hasLease()).toBe(true), WAIT);

  const before = performance.now();
  await publishCents(pool, [1n, 2n], FEED, "coin.v1.published");
  await publishCents(pool, [3n]);
  await vi.waitFor(() => expect(broker.signals).toContainEqual([FEED, 3n]), WAIT);
  expect(performance.now() - before).toBeLessThan(200);

  await vi.waitFor(async () => expect(await countUnforwarded(pool)).toBe(1n), WAIT);
  const ids = (await many<{ id: bigint }>(pool, sql`select id from outbox order by id`)).map(({ id }) => id);
  expect(broker.forwarded).toEqual([
    { subject: "coin.v1.published", number: "1", id: `till:${ids[0]}` },
    { subject: "coin.v1.published", number: "2", id: `till:${ids[1]}` },
  ]);
});

test("an event of another process is sequenced without a wake-up signal", async () => {
  const { pool } = await kernelDatabase();
  const broker = recordingBroker();
  await using _relay = await relayOn(pool, broker);
  await execute(pool, sql`insert into outbox (feed, type, payload) values (${FEED}, 'x', '')`);

  await vi.waitFor(() => expect(broker.signals).toContainEqual([FEED, 1n]), WAIT);
});

test("while the broker is unreachable events are sequenced, and afterwards all are forwarded in order", async () => {
  const { pool } = await kernelDatabase();
  const broker = recordingBroker();
  let isUnreachable = true;
  const forward: RelayOptions["forward"] = async (...message) => {
    if (isUnreachable) throw new Error("no responders");
    await broker.forward(...message);
  };
  await using _relay = await relayOn(pool, { ...broker, forward });

  await publishCents(pool, [1n, 2n], FEED, "coin.v1.published");
  await publishCents(pool, [3n], FEED, "coin.v1.published");
  await vi.waitFor(() => expect(broker.signals).toContainEqual([FEED, 3n]), WAIT);
  expect(broker.forwarded).toEqual([]);
  isUnreachable = false;

  await vi.waitFor(async () => expect(await countUnforwarded(pool)).toBe(0n), WAIT);
  expect(broker.forwarded.map(({ number }) => number)).toEqual(["1", "2", "3"]);
});

test("a message that the broker refuses does not block the others", async () => {
  const { pool } = await kernelDatabase();
  const broker = recordingBroker();
  const forward: RelayOptions["forward"] = async (subject, ...rest) => {
    if (subject === "coin.v1.bad") throw new Error("message too large");
    await broker.forward(subject, ...rest);
  };
  await using _relay = await relayOn(pool, { ...broker, forward });
  await publishCents(pool, [1n], FEED, "coin.v1.bad");
  await publishCents(pool, [2n, 3n], FEED, "coin.v1.good");

  await vi.waitFor(async () => expect(await countUnforwarded(pool)).toBe(1n), WAIT);
  expect(broker.forwarded.map(({ number }) => number)).toEqual(["2", "3"]);
});

test("of two relays one is active, and the other takes over when it stops", async () => {
  const { pool } = await kernelDatabase();
  const [first, second] = [recordingBroker(), recordingBroker()];
  const firstRelay = await relayOn(pool, first);
  await vi.waitFor(() => expect(firstRelay.hasLease()).toBe(true), WAIT);
  await using secondRelay = await relayOn(pool, second);
  await publishCents(pool, [1n], FEED, "coin.v1.published");
  await vi.waitFor(() => expect(first.forwarded).toHaveLength(1), WAIT);
  expect(secondRelay.hasLease()).toBe(false);

  await firstRelay[Symbol.asyncDispose]();
  await publishCents(pool, [2n], FEED, "coin.v1.published");

  await vi.waitFor(() => expect(second.forwarded.map(({ number }) => number)).toEqual(["2"]), WAIT);
  expect(second.signals).toContainEqual([FEED, 2n]);
  expect(first.forwarded).toHaveLength(1);
});

test("after database connections are lost the relay reconnects, and no event is lost", async () => {
  const database = await kernelDatabase();
  const broker = recordingBroker();
  await using _relay = await relayOn(database.pool, broker);
  await publishCents(database.pool, [1n], FEED, "coin.v1.published");
  await vi.waitFor(() => expect(broker.forwarded).toHaveLength(1), WAIT);

  await many(
    database.pool,
    sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  );
  await using fresh = createPool({ url: database.url, schema: "kernel", applicationName: "publisher", max: 1 });
  await publishCents(fresh, [2n], FEED, "coin.v1.published");

  await vi.waitFor(() => expect(broker.forwarded.map(({ number }) => number)).toEqual(["1", "2"]), WAIT);
});

test("a defect of the relay is reported as a fault that stops the service", async () => {
  const { pool } = await kernelDatabase();
  await using relay = await relayOn(pool);

  const fault = relay.fault.catch((error: unknown) => error);

  await execute(pool, sql`drop table outbox`);

  expect(await fault).toMatchObject({ message: expect.stringContaining('relation "outbox" does not exist') });
});
