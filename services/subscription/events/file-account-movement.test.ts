import { expect, onTestFinished, test } from "vitest";
import { consumeFeed } from "#kernel/feed/consume.ts";
import type { FeedEntry, ReadRequest, ReadResponse } from "#proto/pamm/common/v1/feed.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { AccountMoved, AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { expectBooksToReconcile } from "../testing/books.ts";
import { deposit } from "../testing/funding.ts";
import { enter, openAccount } from "#test/support/platform-fake/ledger.ts";
import { anInvestor, aMaster, aWorld, type World } from "../testing/world.ts";
import { fileAccountMovement, MOVEMENT_FEED } from "./file-account-movement.ts";

const PUBLISHED_AT = new Date("2026-01-05T10:00:00Z");

function entryOf(moved: AccountMoved, index: number): FeedEntry {
  return {
    number: BigInt(index + 1),
    id: moved.entryId,
    type: AccountMoved.$type,
    payload: AccountMoved.encode(moved).finish(),
    publishedAt: PUBLISHED_AT,
    requestId: "",
  };
}

function entriesOf({ platform }: World): FeedEntry[] {
  return platform.ledger.feed.map(entryOf);
}

async function startConsumer(world: World, published = () => entriesOf(world)) {
  const read = async ({ afterNumber, limit }: ReadRequest): Promise<ReadResponse> => {
    const entries = published();
    const after = entries.filter(({ number }) => number > afterNumber).slice(0, limit);
    return { entries: after, lastNumber: BigInt(entries.length) };
  };
  const { pool, log } = world.deps;
  const consumer = await consumeFeed({ ...fileAccountMovement(world.deps), pool, read, log });
  onTestFinished(() => consumer[Symbol.asyncDispose]());
  return consumer;
}

test("each entry of the feed is filed once, however often and at whatever number the consumer is woken", async () => {
  const world = await aWorld();
  const login = anInvestor(world);
  for (let number = 0; number < 20; number += 1) await deposit(world, login, 1_00n);
  const consumer = await startConsumer(world);
  await Promise.all([12n, 4n, 21n, 21n, 5n].map((number) => consumer.catchUp(number)));
  expect(consumer.state()).toMatchObject({ feed: MOVEMENT_FEED, stopped: undefined, lag: 0n });
  expect(await many(world.deps.pool, sql`select outside_minor, filed_number from investor_account`)).toEqual([
    { outside_minor: 20_00n, filed_number: 20n },
  ]);
  await expectBooksToReconcile(world);
});

test("movements of payment accounts are ignored", async () => {
  const world = await aWorld();
  openAccount(world.platform.ledger, "777", AccountRole.PAYMENT);
  enter(world.platform.ledger, "777", { kind: MovementKind.FEE_CREDIT, amount: 5_00n });
  const consumer = await startConsumer(world);
  await consumer.catchUp(2n);
  expect(consumer.state()).toMatchObject({ number: 2n });
  expect(await many(world.deps.pool, sql`select login from investor_account`)).toEqual([]);
  expect(await many(world.deps.pool, sql`select login from master_pool`)).toEqual([]);
});

test.each([
  ["an unknown kind", { kind: MovementKind.UNSPECIFIED }],
  ["no amount", { amount: undefined }],
  ["a trade without its details", { kind: MovementKind.TRADE }],
])("%s stops the feed before that entry", async (_what, wrong) => {
  const world = await aWorld();
  const login = aMaster(world);
  enter(world.platform.ledger, login, { kind: MovementKind.EXTERNAL, amount: 5_00n });
  const [opening, moved] = world.platform.ledger.feed as [AccountMoved, AccountMoved];
  const entries = [entryOf(opening, 0), entryOf({ ...moved, ...wrong }, 1)];
  const consumer = await startConsumer(world, () => entries);
  await expect(consumer.catchUp(2n)).rejects.toThrow("stopped");
  expect(consumer.state()).toMatchObject({ number: 1n, stopped: expect.stringContaining("malformed") });
  expect(await many(world.deps.pool, sql`select filed_number from master_pool`)).toEqual([{ filed_number: 0n }]);
});
