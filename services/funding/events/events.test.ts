import { expect, onTestFinished, test } from "vitest";
import { consumeFeed } from "#kernel/feed/consume.ts";
import { createLog } from "#kernel/process/log.ts";
import { fragment } from "#kernel/postgres/query.ts";
import { MasterChanged } from "#proto/pamm/account/v1/events.ts";
import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import { FollowingChanged } from "#proto/pamm/subscription/v1/events.ts";
import { testDatabase } from "#test/support/database.ts";
import { addInvestor, addMaster } from "../store/investor-facts.ts";
import { minimumsOf } from "../testing/cashflows.ts";
import { MovementKind, TransferImported } from "#proto/pamm/platform/v1/movement.ts";
import { OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { getOperation, listOperations, operationReads } from "../queries/operations.ts";
import { listFinished } from "../checks/completeness.ts";
import { IMPORTS, DIRECTORY, FOLLOWINGS } from "./receive-facts.ts";

const AT = new Date("2026-01-02T03:04:05.678Z");
const log = createLog({ service: "funding", level: "silent" });

const imported = (dealId: bigint, own: Partial<TransferImported> = {}): Event => ({
  type: TransferImported.$type,
  payload: TransferImported.encode({
    operationId: `0198c0de-0000-7000-8000-00000000000${dealId}`,
    login: "1",
    kind: MovementKind.DEPOSIT,
    amount: { currencyCode: "USD", minorUnits: 20_00n },
    dealId,
    dealAt: AT,
    comment: "CRM-1",
    ...own,
  }).finish(),
});

type Event = { readonly type: string; readonly payload: Uint8Array };

const master = (login: string, minorUnits: bigint, currencyCode = "USD"): Event => ({
  type: MasterChanged.$type,
  payload: MasterChanged.encode({ login, minDeposit: { currencyCode, minorUnits } }).finish(),
});
const follows = (investorLogin: string, masterLogin: string): Event => ({
  type: FollowingChanged.$type,
  payload: FollowingChanged.encode({ investorLogin, masterLogin }).finish(),
});

async function setUp() {
  const { pool } = await testDatabase("funding");
  const receive = async (feed: typeof DIRECTORY | typeof FOLLOWINGS | typeof IMPORTS, ...events: readonly Event[]) => {
    const entries = events.map((event, index): FeedEntry => {
      const number = BigInt(index + 1);
      return { ...event, number, id: number, publishedAt: new Date(), requestId: "" };
    });
    const read = async () => ({ entries, lastNumber: BigInt(entries.length) });
    const consumer = await consumeFeed({ ...(feed as typeof DIRECTORY), pool, read, log });
    onTestFinished(() => consumer[Symbol.asyncDispose]());
    await consumer.catchUp(BigInt(entries.length));
  };
  return { pool, receive };
}

test("the minimum of an Investor is that of the Master that it follows now", async () => {
  const { pool, receive } = await setUp();
  await receive(DIRECTORY, master("5", 100_00n), master("6", 7n), master("5", 500_00n));
  await receive(
    FOLLOWINGS,
    follows("2", "5"),
    follows("3", "6"),
    follows("2", ""),
    follows("4", ""),
    follows("2", "5"),
  );

  expect(await minimumsOf(pool, ["1", "2", "3", "4", "9"])).toEqual(
    new Map([
      ["2", 500_00n],
      ["3", 7n],
      ["4", null],
    ]),
  );
});

test("an Investor whose Master is not known is unknown", async () => {
  const { pool, receive } = await setUp();
  await receive(FOLLOWINGS, follows("2", "5"));

  expect(await minimumsOf(pool, ["2"])).toEqual(new Map());
});

test("facts that were asked for never replace those of an event", async () => {
  const { pool, receive } = await setUp();
  await receive(DIRECTORY, master("5", 500_00n));
  await receive(FOLLOWINGS, follows("2", "5"));

  await addMaster(pool, "5", 1n);
  await addInvestor(pool, { login: "2", masterLogin: undefined });

  expect(await minimumsOf(pool, ["2"])).toEqual(new Map([["2", 500_00n]]));
});

test("a minimum that is no amount in USD stops the feed before its entry", async () => {
  const { pool, receive } = await setUp();

  await receive(FOLLOWINGS, follows("1", "4"), follows("2", "5"));

  await expect(receive(DIRECTORY, master("4", 1n), master("5", 1n, "EUR"))).rejects.toThrow("stopped");

  expect([...(await minimumsOf(pool, ["1", "2"])).keys()]).toEqual(["1"]);
});

test("an imported deposit or withdrawal is an executed operation with its deal, once", async () => {
  const { pool, receive } = await setUp();
  const WITHDRAWAL = { kind: MovementKind.WITHDRAWAL, amount: { currencyCode: "USD", minorUnits: -5_00n } };
  // The other deal is known under the operation that made it: this database has not lost it.
  await pool.query(
    `insert into cashflow (operation_id, action, login, amount_minor, comment, state, deal_id, deadline, created_at,
                           finished_at, next_try_at, first_deposit_checked, min_deposit_minor)
     values ('known', 'deposit', '1', 100, '', 'POSTED', 3, now(), now(), now(), now(), false, 0)`,
  );
  const other = imported(1n, { operationId: "0198c0de-0000-7000-8000-000000000009" });
  await receive(IMPORTS, imported(1n), imported(2n, WITHDRAWAL), other, imported(3n));

  const deps = { pool, now: () => new Date() } as Parameters<typeof listOperations>[0];
  const ofComment = { login: "1", comment: "CRM-1", outcome: OperationOutcome.EXECUTED, beforeId: "", limit: 10 };
  const { items } = await listOperations(deps, ofComment);
  expect(items.map(({ operationId, dealId, imported: is }) => [operationId.at(-1), dealId, is])).toEqual([
    ["2", 2n, true],
    ["1", 1n, true],
  ]);
  const read = await getOperation(deps, operationReads(deps), { operationId: items[0]!.operationId });
  expect(read).toMatchObject({
    amount: { minorUnits: 5_00n },
    createdAt: AT,
    finishedAt: AT,
    feeKey: "",
    transferKeys: ["imported:2"],
  });
  // The check compares them with the transfers that platform has recorded.
  const finished = await listFinished(pool, fragment`(select id from cashflow where is_imported)`);
  expect(finished.map(({ transferKey, amountMinor, isImported }) => [transferKey, amountMinor, isImported])).toEqual([
    ["imported:1", 20_00n, true],
    ["imported:2", 5_00n, true],
  ]);
});

test("an import that is no deposit or withdrawal stops the feed before its entry", async () => {
  const { receive } = await setUp();
  await expect(receive(IMPORTS, imported(1n, { kind: MovementKind.MIRROR }))).rejects.toThrow("stopped");
});
