import { expect, test } from "vitest";
import { metricValues } from "#test/support/metric-values.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { createPool, type Pool } from "../postgres/pool.ts";
import { execute, many, one, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../testing/database.ts";
import type { RelayOptions } from "./relay.ts";
import { FEED, publishCents, runRelay } from "../testing/feed.ts";

const WAIT = { interval: 10 };

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

function relayOn(pool: Pool, over: Partial<RelayOptions> = {}): AsyncDisposable {
  const { forward, signal } = recordingBroker();
  return runRelay({ service: "till", pool, forward, signal, ...over });
}

const countUnforwarded = async (pool: Pool) =>
  (await one<{ count: bigint }>(pool, sql`select count(*) from outbox where forwarded_at is null`)).count;

test("when an event is committed its readers are signalled, and an event with a subject is forwarded", async () => {
  const { pool } = await kernelDatabase();
  const broker = recordingBroker();
  await using _relay = relayOn(pool, broker);

  await publishCents(pool, [1n, 2n], FEED, "coin.v1.published");
  expect(broker.signals).toEqual([[FEED, 2n]]);
  await publishCents(pool, [3n]);
  expect(broker.signals).toEqual([
    [FEED, 2n],
    [FEED, 3n],
  ]);

  await waitFor(async () => expect(await countUnforwarded(pool)).toBe(1n), WAIT);
  const ids = (await many<{ id: bigint }>(pool, sql`select id from outbox order by id`)).map(({ id }) => id);
  expect(broker.forwarded).toEqual([
    { subject: "coin.v1.published", number: "1", id: `till:${ids[0]}` },
    { subject: "coin.v1.published", number: "2", id: `till:${ids[1]}` },
  ]);
});

test("what a crashed process left is found by the poll of any replica", async () => {
  const { pool, url } = await kernelDatabase();
  const broker = recordingBroker();
  await using _relay = relayOn(pool, broker);
  await using crashed = createPool({ url, schema: "kernel", applicationName: "crashed", max: 1 });
  await publishCents(crashed, [1n, 2n], FEED, "coin.v1.published");

  await waitFor(async () => expect(await countUnforwarded(pool)).toBe(0n), WAIT);
  expect(broker.forwarded.map(({ number }) => number)).toEqual(["1", "2"]);
  expect(broker.signals).toEqual([]);
});

test("while the broker is unreachable readers are signalled and the age of the oldest entry is shown, and afterwards all entries are forwarded", async () => {
  const { pool } = await kernelDatabase();
  const broker = recordingBroker();
  let isUnreachable = true;
  const forward: RelayOptions["forward"] = async (...message) => {
    if (isUnreachable) throw new Error("no responders");
    await broker.forward(...message);
  };
  await using _relay = relayOn(pool, { ...broker, forward });

  await publishCents(pool, [1n, 2n], FEED, "coin.v1.published");
  await publishCents(pool, [3n], FEED, "coin.v1.published");
  expect(broker.signals.at(-1)).toEqual([FEED, 3n]);
  await execute(pool, sql`update outbox set published_at = published_at - interval '40 seconds'`);
  const oldest = async () => (await metricValues("pamm_outbox_oldest_unforwarded_seconds"))[""];
  await waitFor(async () => expect(await oldest()).toBeGreaterThan(39), WAIT);
  expect(broker.forwarded).toEqual([]);
  isUnreachable = false;

  await waitFor(async () => expect(await countUnforwarded(pool)).toBe(0n), WAIT);
  await waitFor(async () => expect(await oldest()).toBe(0), WAIT);
  expect(broker.forwarded.map(({ number }) => number)).toEqual(["1", "2", "3"]);
});

test("a message that the broker refuses does not block the others", async () => {
  const { pool } = await kernelDatabase();
  const broker = recordingBroker();
  const forward: RelayOptions["forward"] = async (subject, ...rest) => {
    if (subject === "coin.v1.bad") throw new Error("message too large");
    await broker.forward(subject, ...rest);
  };
  await using _relay = relayOn(pool, { ...broker, forward });
  await publishCents(pool, [1n], FEED, "coin.v1.bad");
  await publishCents(pool, [2n, 3n], FEED, "coin.v1.good");

  await waitFor(async () => expect(await countUnforwarded(pool)).toBe(1n), WAIT);
  expect(broker.forwarded.map(({ number }) => number)).toEqual(["2", "3"]);
});
