import { expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { createPool, type Pool } from "../postgres/pool.ts";
import { execute, many, one, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../testing/database.ts";
import type { RelayOptions } from "./relay.ts";
import { FEED, publishCents, runRelay, silent } from "../testing/feed.ts";

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
  return runRelay({ service: "till", pool, forward, signal, log: silent, ...over });
}

const countUnforwarded = async (pool: Pool) =>
  (await one<{ count: bigint }>(pool, sql`select count(*) from outbox where forwarded_at is null`)).count;

/** As if its process had crashed some time ago. */
const makeOlder = (pool: Pool) => execute(pool, sql`update outbox set published_at = published_at - interval '10 s'`);

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

test("what is committed while a batch is forwarded is the next batch", async () => {
  const { pool } = await kernelDatabase();
  const batches: string[][] = [];
  const stored: (() => void)[] = [];
  const forward: RelayOptions["forward"] = (_subject, _payload, headers) => {
    if (stored.length === 0) batches.push([]);
    batches.at(-1)?.push(headers["Feed-Number"] ?? "");
    return new Promise((resolve) => stored.push(resolve));
  };
  const confirm = () => {
    for (const resolve of stored.splice(0)) resolve();
  };
  await using _relay = relayOn(pool, { forward });
  await publishCents(pool, [1n], FEED, "coin.v1.published");
  await waitFor(() => expect(batches).toEqual([["1"]]), WAIT);
  await publishCents(pool, [2n, 3n], FEED, "coin.v1.published");
  await publishCents(pool, [4n], FEED, "coin.v1.published");
  confirm();

  await waitFor(() => expect(batches).toEqual([["1"], ["2", "3", "4"]]), WAIT);
  confirm();
  await waitFor(async () => expect(await countUnforwarded(pool)).toBe(0n), WAIT);
});

test("what a crashed process left is found by the poll of any replica, young entries are left to their own process", async () => {
  const { pool, url } = await kernelDatabase();
  const broker = recordingBroker();
  await using _relay = relayOn(pool, broker);
  await using crashed = createPool({ url, schema: "kernel", applicationName: "crashed", max: 1 });
  await publishCents(crashed, [1n, 2n], FEED, "coin.v1.published");
  await makeOlder(pool);
  await publishCents(crashed, [3n], FEED, "coin.v1.published");

  await waitFor(async () => expect(await countUnforwarded(pool)).toBe(1n), WAIT);
  expect(broker.forwarded.map(({ number }) => number)).toEqual(["1", "2"]);
  expect(broker.signals).toEqual([]);
});

test("while the broker is unreachable readers are signalled, and afterwards all entries are forwarded", async () => {
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
  await makeOlder(pool);
  expect(broker.forwarded).toEqual([]);
  isUnreachable = false;

  await waitFor(async () => expect(await countUnforwarded(pool)).toBe(0n), WAIT);
  // The third one may be sent for the first time before the others are sent again.
  expect(broker.forwarded.map(({ number }) => number).toSorted()).toEqual(["1", "2", "3"]);
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
