import { expect, test } from "vitest";
import { execute, maybeOne, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { balanceOf, enter } from "#test/support/platform-fake/ledger.ts";
import { allocateResults } from "../jobs/allocate-results.ts";
import { postResults } from "../jobs/post-results.ts";
import { catchUp } from "../processes/filing/catch-up.ts";
import { expectBooksToReconcile } from "./books.ts";
import { inBucket } from "./ledger.ts";
import { isPosting, postingsAtPlatform } from "./postings-at-platform.ts";
import { deliver, settle, subscribed } from "./settle.ts";
import { trader } from "./trader.ts";
import { aCall, aMaster, aWorld, passTime } from "./world.ts";

async function aPair() {
  const world = await aWorld();
  const pair = await subscribed(world, aMaster(world, 0n), 100_00n);
  const { investorLogin: login, masterLogin } = pair;
  const { pool } = world.deps;
  return {
    world,
    login,
    masterLogin,
    master: trader(world, masterLogin),
    balance: () => balanceOf(world.platform.ledger, login),
    /** What the check of platform learns of the postings with these numbers: their amounts, or that they are known. */
    owned: async (...numbers: number[]) => {
      const keys = numbers.map((number) => `posting:${login}:${number}`);
      const { legs } = await world.service.findTransfers({ keys }, aCall());
      expect(legs.every((leg) => leg.login === login && leg.kind === "result")).toBe(true);
      return Object.fromEntries(legs.map(({ key, amount }) => [key.split(":")[2], amount?.minorUnits ?? "known"]));
    },
    /** What a backup has of the account; restores it. */
    backUp: async () => {
      const row = await maybeOne<{ row: unknown }>(
        pool,
        sql`select to_jsonb(investor_account) as row from investor_account where login = ${login}`,
      );
      return async () => {
        await execute(
          pool,
          sql`update investor_account as account
              set filed_number = old.filed_number, received_number = old.received_number, unposted_minor = old.unposted_minor,
                  posting_number = old.posting_number, posting_minor = old.posting_minor, posting_filed_number = old.posting_filed_number,
                  posting_tries = old.posting_tries, posting_refusals = old.posting_refusals, posting_next_at = old.posting_next_at
              from jsonb_populate_record(null::investor_account, ${JSON.stringify(row?.row)}::jsonb) as old
              where account.login = ${login}`,
        );
      };
    },
    postings: () => postingsAtPlatform(world),
  };
}

test("platform learns the amount of the posting in flight, knows those before it, and no later one", async () => {
  const { world, master, owned } = await aPair();
  master.result(10_00n);
  await settle(world);
  world.platform.rules.delay = () => true;
  master.result(-7_00n);
  await settle(world);
  expect(await owned(1, 2, 3)).toEqual({ 1: "known", 2: -7_00n });
});

test("a posting that was executed in the lost time is filed once, and its number is not used again", async () => {
  const { world, master, masterLogin, login, balance, owned, backUp, postings } = await aPair();
  master.result(10_00n);
  await deliver(world);
  await allocateResults(world.deps);
  const restore = await backUp();
  await settle(world);

  await restore();
  await catchUp(world.deps, { login }, aCall());
  expect(await inBucket(world, masterLogin, "unposted")).toEqual([0n]);
  master.result(7_00n);
  await settle(world);

  expect(balance()).toBe(117_00n);
  expect(postings()).toEqual(["1: 1000 applied", "2: 700 applied"]);
  // Its record was lost: operators decide about it, as about each transfer of the lost time.
  expect(await owned(1, 2)).toEqual({ 2: "known" });
  await expectBooksToReconcile(world);
});

test("a number of a posting that was refused in the lost time is left out when the amount is another one", async () => {
  const { world, master, login, balance, owned, backUp, postings } = await aPair();
  const restore = await backUp();
  world.platform.rules.refuse = (request) => (isPosting(request) ? "platform_rejected" : undefined);
  master.result(10_00n);
  await settle(world);
  world.platform.rules.refuse = () => undefined;
  await restore();
  await execute(world.deps.pool, sql`update investor_account set unposted_minor = 1000 where login = ${login}`);
  master.result(7_00n);
  await settle(world);
  await passTime(world, 1_000);
  await settle(world);

  expect(balance()).toBe(117_00n);
  expect(postings()).toEqual(["1: 1000 refused: platform_rejected", "2: 1700 applied"]);
  expect(await owned(1, 2)).toEqual({ 2: "known" });
  await expectBooksToReconcile(world);
});

test("a posting whose number has executed another amount in the lost time ends when that is filed", async () => {
  const { world, master, login, balance, owned, backUp, postings } = await aPair();
  master.result(10_00n);
  await deliver(world);
  await allocateResults(world.deps);
  const restore = await backUp();
  await postResults(world.deps);

  await restore();
  await execute(
    world.deps.pool,
    sql`update investor_account set posting_number = 1, posting_minor = 400, posting_filed_number = filed_number where login = ${login}`,
  );
  await postResults(world.deps);
  await settle(world);
  await passTime(world, 60_000);
  await settle(world);

  expect(balance()).toBe(110_00n);
  expect(postings()).toEqual(["1: 1000 applied"]);
  expect(await owned(1)).toEqual({});
  await expectBooksToReconcile(world);
});

test("a posting whose number has executed the same amount in the lost time is answered with it", async () => {
  const { world, master, balance, owned, backUp, postings } = await aPair();
  master.result(10_00n);
  await deliver(world);
  await allocateResults(world.deps);
  const restore = await backUp();
  await postResults(world.deps);

  await restore();
  await postResults(world.deps);
  await settle(world);

  expect(balance()).toBe(110_00n);
  expect(postings()).toEqual(["1: 1000 applied"]);
  expect(await owned(1)).toEqual({ 1: "known" });
  await expectBooksToReconcile(world);
});

test("a result that this service has not requested is taken back by the next posting, and is not owned, whatever its number", async () => {
  const { world, master, login, balance, owned } = await aPair();
  const { RESULT } = MovementKind;
  master.result(10_00n);
  await settle(world);
  for (const number of [1, 2, 9]) {
    enter(world.platform.ledger, login, { kind: RESULT, amount: 5_00n, key: `posting:${login}:${number}` });
    await settle(world);
    expect(balance()).toBe(110_00n);
  }
  expect(await owned(1, 2, 3, 8, 9, 10)).toEqual({ 3: "known", 8: "known", 10: "known" });
  await expectBooksToReconcile(world);
});
