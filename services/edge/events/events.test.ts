import { expect, onTestFinished, test } from "vitest";
import { consumeFeed, type FeedConsumer } from "#kernel/feed/consume.ts";
import { feedReader } from "#kernel/feed/read.ts";
import { publishAll } from "#kernel/feed/publish.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { execute, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { silent } from "#kernel/testing/feed.ts";
import { StateChanged } from "#proto/pamm/common/v1/state.ts";
import { testDatabase } from "#test/support/database.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { readEvents, removeEvents } from "./store/events.ts";
import { demandKnown, recordStates } from "./event-log.ts";

const WAIT = { interval: 10 };
const ALL = { after: 0n, types: undefined, limit: 500 };
const OWNERS = ["funding", "subscription"] as const;
type Owner = (typeof OWNERS)[number];

const aState = (own: Partial<StateChanged>): StateChanged => ({
  kind: "deposit",
  state: "executed",
  subject: "op-1",
  notedAt: new Date("2026-01-02T03:04:05.678Z"),
  login: "9001",
  masterLogin: "",
  operationId: "op-1",
  amount: { currencyCode: "USD", minorUnits: 250_50n },
  dealId: 7n,
  reason: "",
  ...own,
});

/** Two services with feeds of states, and the database of the edge. */
async function aWorld() {
  const { pool } = await testDatabase("edge");
  const owners = {
    funding: (await testDatabase("funding")).pool,
    subscription: (await testDatabase("subscription")).pool,
  };
  const publish = (owner: Owner, ...states: StateChanged[]): Promise<void> =>
    inTransaction(owners[owner], async (tx) =>
      publishAll(
        tx,
        states.map((message) => ({ feed: `${owner}.states`, event: StateChanged, message })),
      ),
    );
  /** A replica of the edge; a read of a feed may be made to fail. */
  const replica = async (fails: () => boolean = () => false) => {
    const consumers: FeedConsumer[] = [];
    for (const owner of OWNERS) {
      const reader = feedReader(owners[owner], [`${owner}.states`]);
      const read = async (request: Parameters<typeof reader.read>[0]) => {
        const response = await reader.read(request);
        if (fails()) throw new Error("the answer was lost");
        return response;
      };
      const consumer = await consumeFeed({ ...recordStates(owner), pool, log: silent, read });
      onTestFinished(() => consumer[Symbol.asyncDispose]());
      consumers.push(consumer);
    }
    return { look: () => consumers.forEach((consumer) => consumer.look()) };
  };
  return { pool, owners, publish, replica };
}

const subjectsOf = async (pool: Pool) => (await readEvents(pool, ALL)).events.map(({ subject }) => subject);

test("an event has the facts of its state, and a key that names the entry of its service", async () => {
  const { pool, publish, replica } = await aWorld();
  await publish("funding", aState({}));
  await publish(
    "subscription",
    aState({ kind: "subscription", state: "ACTIVE", subject: "9", amount: undefined, dealId: 0n }),
  );
  await replica();
  await waitFor(async () => expect(await subjectsOf(pool)).toHaveLength(2), WAIT);

  const { events } = await readEvents(pool, ALL);
  const byType = new Map(events.map((event) => [event.type, event]));
  expect(byType.get("deposit.executed")).toEqual({
    id: expect.any(BigInt),
    key: expect.stringMatching(/^funding-\d+$/),
    type: "deposit.executed",
    state: "executed",
    subject: "op-1",
    occurredAt: new Date("2026-01-02T03:04:05.678Z"),
    login: "9001",
    masterLogin: "",
    operationId: "op-1",
    amountMinor: 250_50n,
    dealId: 7n,
    reason: "",
  });
  expect(byType.get("subscription.active")).toMatchObject({ state: "ACTIVE", amountMinor: null });
});

test("two replicas record each change once and in the order of its service, and a reader never misses a lower id", async () => {
  const { pool, publish, replica } = await aWorld();
  let calls = 0;
  // Every third answer is lost.
  const one = await replica(() => (calls += 1) % 3 === 0);
  const two = await replica();
  const count = 60;
  let isDone = false;
  const seen: bigint[] = [];
  const reading = (async () => {
    for (let after = 0n; seen.length < 2 * count && !isDone;) {
      const { events, through } = await readEvents(pool, { ...ALL, after, limit: 7 });
      seen.push(...events.map(({ id }) => id));
      after = through;
    }
  })();
  for (let number = 0; number < count; number += 1) {
    await Promise.all(OWNERS.map((owner) => publish(owner, aState({ subject: `${owner}-${number}` }))));
    one.look();
    two.look();
  }
  await waitFor(async () => expect(await subjectsOf(pool)).toHaveLength(2 * count), WAIT);
  await waitFor(async () => expect(seen).toHaveLength(2 * count), WAIT);
  isDone = true;
  await reading;

  const { events } = await readEvents(pool, ALL);
  expect(seen).toEqual(events.map(({ id }) => id));
  for (const owner of OWNERS) {
    const own = events.filter(({ key }) => key.startsWith(owner)).map(({ subject }) => subject);
    expect(own).toEqual(Array.from({ length: count }, (_, number) => `${owner}-${number}`));
  }
});

test("after a restore of the edge the lost events come again with the same keys under higher ids, so no reader misses one", async () => {
  const { pool, publish, replica } = await aWorld();
  await publish("funding", aState({ subject: "1" }), aState({ subject: "2" }), aState({ subject: "3" }));
  {
    await replica();
    await waitFor(async () => expect(await subjectsOf(pool)).toEqual(["1", "2", "3"]), WAIT);
  }
  const before = (await readEvents(pool, ALL)).events;
  // The backup has the first event; ids are raised in the database that was restored.
  const [first] = before;
  await execute(pool, sql`delete from event where id > ${first!.id}`);
  const entry = BigInt(first!.key.split("-")[1]!);
  await execute(pool, sql`update feed_cursor set number = 1, entry_id = ${entry} where feed = 'funding.states'`);
  await execute(pool, sql`select setval('event_id_seq', 1000000)`);
  const beyond = (after: bigint) => readEvents(pool, { ...ALL, after }).then((page) => demandKnown(after, page));
  await expect(beyond(1_000_001n)).rejects.toMatchObject({ code: "invalid_cursor", errors: [{ field: "after" }] });
  await beyond(1_000_000n);
  await replica();
  await waitFor(async () => expect(await subjectsOf(pool)).toEqual(["1", "2", "3"]), WAIT);

  const again = await readEvents(pool, { ...ALL, after: before.at(-1)!.id });
  expect(again.events.map(({ key }) => key)).toEqual(before.slice(1).map(({ key }) => key));
});

test("pages by types end where all events were searched, and removed events are reported", async () => {
  const { pool, publish, replica } = await aWorld();
  const kinds = ["deposit", "fee", "deposit", "mirror", "deposit"];
  await publish("funding", ...kinds.map((kind, index) => aState({ kind, subject: String(index) })));
  await replica();
  await waitFor(async () => expect(await subjectsOf(pool)).toHaveLength(kinds.length), WAIT);
  const ids = (await readEvents(pool, ALL)).events.map(({ id }) => id);
  const types = ["deposit.executed", "fee.executed"];
  const read = (after: bigint, limit: number) => readEvents(pool, { after, types, limit });

  const first = await read(0n, 2);
  expect([first.events.map(({ subject }) => subject), first.through, first.hasMore]).toEqual([
    ["0", "1"],
    ids[1],
    true,
  ]);
  const last = await read(first.through, 2);
  expect([last.events.map(({ subject }) => subject), last.through, last.hasMore]).toEqual([["2", "4"], ids[4], false]);
  const fees = await readEvents(pool, { after: ids[1]!, types: ["fee.executed"], limit: 2 });
  expect([fees.events, fees.through, fees.removedThrough]).toEqual([[], ids[4], 0n]);

  await execute(pool, sql`update event set recorded_at = clock_timestamp() - interval '91 days' where id <= ${ids[2]}`);
  expect(await removeEvents(pool, new Date(Date.now() - 90 * 86_400_000), 2)).toBe(2);
  expect(await removeEvents(pool, new Date(Date.now() - 90 * 86_400_000), 2)).toBe(1);
  expect(await removeEvents(pool, new Date(Date.now() - 90 * 86_400_000), 2)).toBe(0);
  expect(await readEvents(pool, ALL)).toMatchObject({
    removedThrough: ids[2],
    events: [{ subject: "3" }, { subject: "4" }],
  });
  expect(await readEvents(pool, { ...ALL, after: ids[4]! })).toMatchObject({ events: [], through: ids[4] });
});
