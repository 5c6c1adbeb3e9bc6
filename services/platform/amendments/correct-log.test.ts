import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { type Review, ReviewState } from "#proto/pamm/common/v1/review.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { AccountReader } from "../reader/account-reader.ts";
import { readLogin } from "../protocol/history/read-history.ts";
import { losing } from "../testing/losing.ts";
import { logOf, summaryOf } from "../testing/log-of.ts";
import { aDeposit, aTransfer } from "../testing/requests.ts";
import { decideBoth, openReviews, vote } from "../testing/reviews.ts";
import { aCall, anAccount, eventually, type Instance, type World, aProcess, aProcessWith } from "../testing/world.ts";
import { onlyReader } from "../testing/reader-role.ts";
import { compareChangedAccounts } from "./amendments.ts";
import { reportChanged } from "./compare-history.ts";
import { compareAccount } from "./correct-log.ts";
import { CONFIRM_AFTER_MS } from "./deleted-deals.ts";

/** The server loses the deals of this period; it is longer than the period that every run reads again. */
const LOST_PERIOD_MS = 60_000;
const TIMEOUT_MS = 120_000;
const CORRECT = { action: "correct_log" };

async function reviewOf(instance: Instance, login: string): Promise<Review> {
  const open = await eventually(
    async () => (await openReviews(instance)).filter((review) => review.login === login),
    (found) => found.length > 0,
    40_000,
  );
  expect(open).toHaveLength(1);
  expect(open[0]).toMatchObject({ reason: "history_changed", actions: ["correct_log", "acknowledge"] });
  return open[0]!;
}

const isComplete = async ({ service }: Instance, login: string): Promise<boolean> =>
  (await service.readAccount({ login }, aCall())).complete;

/** What the platform loses meanwhile is missed by a reader, which asks for its tickets some seconds later. */
async function reportLost({ deps }: Instance, lose: () => Promise<unknown>): Promise<void> {
  const reader = new AccountReader(deps, onlyReader);
  const read = (findsDeleted: boolean) => reader.read({ backMs: LOST_PERIOD_MS, findsDeleted });
  await read(true);
  await lose();
  await read(true);
  await pause(CONFIRM_AFTER_MS + 200);
  await read(false);
}

/** Two operators accept the difference, once it was read for a quiet period. */
async function correct(instance: Instance, review: Review): Promise<Review> {
  await compareAccount(instance.deps, review.login);
  await vote(instance, review, "key-of-ann", CORRECT);
  const confirm = () => vote(instance, review, "key-of-bob", CORRECT).catch(({ message }: Error) => message);
  const decided = await eventually(confirm, (answer) => typeof answer !== "string", 20_000);
  if (typeof decided === "string") throw new Error(decided);
  return decided;
}

test.concurrent(
  "lost deals of the service and of a trader are corrected by one amount, and the log equals the account",
  { timeout: TIMEOUT_MS },
  async (context) => {
    const { world, instance, service } = await aProcess(context, { hasJobs: false });
    const master = await anAccount(instance, "master");
    const mirror = aTransfer("mirror:1", [{ login: master, kind: MovementKind.MIRROR, minor: 9_00n }]);
    await service.transfer(mirror, aCall());
    await world.control.result(master, "5.00");
    await reportLost(instance, () => world.control.restart(LOST_PERIOD_MS));
    const review = await reviewOf(instance, master);
    expect(JSON.parse(review.evidence)).toMatchObject({
      deals: [{ shown: "no such deal" }, { shown: "no such deal" }, { shown: "no such deal" }],
    });
    expect(await isComplete(instance, master)).toBe(false);

    expect(await correct(instance, review)).toMatchObject({
      state: ReviewState.DECIDED,
      amount: { minorUnits: -14_00n },
    });

    const log = await logOf(instance, master, 7);
    expect(log.slice(6).map(summaryOf)).toEqual(["CORRECTION -14.00"]);
    expect(log[6]).toMatchObject({ dealId: 0n, key: "", transferId: 0n, reason: "" });
    expect(await isComplete(instance, master)).toBe(true);
    expect(await many(instance.deps.pool, sql`select from open_position`)).toEqual([]);
    // The reported result stays APPLIED, no command is sent again, and no amendment is reported twice.
    expect((await service.transfer(mirror, aCall())).state).toBe(TransferState.APPLIED);
    await reportLost(instance, async () => undefined);
    expect(await logOf(instance, master, 7)).toHaveLength(7);
    expect(await openReviews(instance)).toEqual([]);
    expect(await world.control.deals(master)).toEqual([]);
  },
);

test.concurrent(
  "an edited deal is corrected after its balance was adjusted, and reported again after another edit",
  { timeout: TIMEOUT_MS },
  async (context) => {
    const { world, instance, login } = await aProcessWith("master", context);
    const { deal } = await world.control.result(login, "5.00");
    await logOf(instance, login, 2);
    await world.control.editDeal(deal, { profit: "6.00" });
    const review = await reviewOf(instance, login);
    await expect(vote(instance, review, "key-of-ann", CORRECT)).rejects.toMatchObject({
      code: "action_not_possible",
      message: expect.stringContaining(`The log of ${login} agrees with the trading platform`),
    });
    await world.control.fix(login);
    await correct(instance, review);
    expect((await logOf(instance, login, 4)).map(summaryOf).slice(3)).toEqual(["CORRECTION 1.00"]);
    expect(await isComplete(instance, login)).toBe(true);

    await world.control.editDeal(deal, { profit: "4.00" });
    await world.control.fix(login);
    const again = await reviewOf(instance, login);
    expect(JSON.parse(again.evidence)).toMatchObject({ deals: [{ shown: expect.stringMatching(/^4\.00 /) }] });
    await correct(instance, again);

    const log = await logOf(instance, login, 6);
    expect(log.map(summaryOf).slice(4)).toEqual(["AMENDMENT 0.00", "CORRECTION -2.00"]);
    expect(await isComplete(instance, login)).toBe(true);
  },
);

test.concurrent(
  "the first vote becomes void when the account differs otherwise before the second vote",
  { timeout: TIMEOUT_MS },
  async (context) => {
    const { world, instance, login } = await aProcessWith("master", context);
    const { deal } = await world.control.result(login, "5.00");
    await logOf(instance, login, 2);
    await world.control.editDeal(deal, { profit: "6.00" });
    await world.control.fix(login);
    const review = await reviewOf(instance, login);
    await compareAccount(instance.deps, login);
    await vote(instance, review, "key-of-ann", CORRECT);
    await world.control.editDeal(deal, { profit: "7.00" });
    await world.control.fix(login);

    await expect(vote(instance, review, "key-of-bob", CORRECT)).rejects.toMatchObject({
      code: "action_not_possible",
      message: expect.stringContaining(`now differs from the log of ${login} by 2.00`),
    });
    const renewed = await reviewOf(instance, login);
    expect(renewed).toMatchObject({ id: review.id, state: ReviewState.OPEN, amount: { minorUnits: 2_00n } });
    // The reader has reported the second edit too.
    await logOf(instance, login, 4);
    await correct(instance, renewed);
    expect((await logOf(instance, login, 5)).map(summaryOf).slice(2)).toEqual([
      "AMENDMENT 0.00",
      "AMENDMENT 0.00",
      "CORRECTION 2.00",
    ]);
  },
);

test.concurrent("a deal that is shown again needs no correction, and after its correction it is reported and corrected again", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context, { hasJobs: false });
  const { legs } = await instance.service.transfer(aDeposit(login, 9_00n), aCall());
  const [{ comment } = { comment: "" }] = await world.control.deals(login);
  const bookAgain = async (): Promise<void> => {
    const { deal } = await world.control.balance(login, "9.00", comment);
    expect(BigInt(deal)).toBe(legs[0]!.dealId);
  };
  const lose = () => world.control.restart(LOST_PERIOD_MS);
  await reportLost(instance, lose);
  const review = await reviewOf(instance, login);
  await bookAgain();
  await expect(vote(instance, review, "key-of-ann", CORRECT)).rejects.toMatchObject({
    code: "action_not_possible",
    message: expect.stringContaining("No correction is needed"),
  });
  await lose();
  await correct(instance, review);

  await bookAgain();
  await new AccountReader(instance.deps, onlyReader).read({ backMs: LOST_PERIOD_MS, findsDeleted: false });
  await correct(instance, await reviewOf(instance, login));

  expect(await openReviews(instance)).toEqual([]);
  expect((await logOf(instance, login, 5)).map(summaryOf)).toEqual([
    "DEPOSIT 9.00",
    "AMENDMENT 0.00",
    "CORRECTION -9.00",
    "AMENDMENT 0.00",
    "CORRECTION 9.00",
  ]);
  expect(await isComplete(instance, login)).toBe(true);
});

test.concurrent("the deal of a Master's leg that is lost before it was read is in the log with its correction", async (context) => {
  const { world, instance, login } = await aProcessWith("master", context, { hasJobs: false });
  const mirror = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 9_00n }]);
  const { legs } = await instance.service.transfer(mirror, aCall());
  await world.control.restart(LOST_PERIOD_MS);
  const review = await reviewOfLost(instance, login, legs[0]!.dealId);

  await correct(instance, review);

  expect((await logOf(instance, login, 3)).map(summaryOf)).toEqual([
    "AMENDMENT 0.00",
    "MIRROR 9.00",
    "CORRECTION -9.00",
  ]);
  expect(await isComplete(instance, login)).toBe(true);
});

test.concurrent.for([false, true])(
  "a decision whose process crashes during its commit (committed: %s) is recorded completely or not at all, and once",
  { timeout: TIMEOUT_MS },
  async (isCommitted, context) => {
    const { world, instance, service } = await aProcess(context, { hasJobs: false, quietPeriodMs: 100 });
    for (const commit of [1, 2, 3, 4]) {
      const { login, review } = await aLostDeposit(world, instance);
      await world.control.fix(login);
      await compareAccount(instance.deps, login);
      await vote(instance, review, "key-of-ann", CORRECT);
      await pause(200);
      const secondVote = { reviewId: review.id, ...CORRECT, dealId: 0n, note: "seen", actor: "key-of-bob" };
      const keyId = "KeyOfOneTest";

      // The operator repeats the vote with another process.
      await losing(instance, { commit, isCommitted })
        .decideReview({ ...secondVote, keyId }, aCall())
        .catch(() => undefined);
      const repeated = await service
        .decideReview({ ...secondVote, keyId, actor: "key-of-cid" }, aCall())
        .catch((error: unknown) => error);

      if (repeated instanceof Error) expect(repeated).toMatchObject({ code: "review_decided" });
      const decided = sql`select state, done_at is not null as done from review_case where id = ${review.id}`;
      expect(await many(instance.deps.pool, decided)).toEqual([{ state: "DECIDED", done: true }]);
      const log = (await logOf(instance, login, 3)).map(summaryOf);
      expect(log).toEqual(["DEPOSIT 9.00", "AMENDMENT 0.00", "CORRECTION -9.00"]);
      expect(await isComplete(instance, login)).toBe(true);
    }
  },
);

test.concurrent(
  "a position whose deal was deleted is closed by the correction, which is not confirmed before a quiet period",
  { timeout: TIMEOUT_MS },
  async (context) => {
    const { world, instance } = await aProcess(context, { hasJobs: false });
    const login = await anAccount(instance, "master");
    await world.control.balance(login, "500");
    await world.control.open(login, "0.1");
    await readLogin(instance.deps, login);
    const positions = () => many(instance.deps.pool, sql`select volume from open_position where login = ${login}`);
    expect(await positions()).toEqual([{ volume: 10_000_000n }]);
    await reportLost(instance, () => world.control.restart(LOST_PERIOD_MS));
    const review = await reviewOf(instance, login);
    await compareAccount(instance.deps, login);
    const { evidence } = await reviewOf(instance, login);
    expect(JSON.parse(evidence)).toMatchObject({ positions: [expect.stringContaining("0 instead of 10000000")] });

    await vote(instance, review, "key-of-ann", CORRECT);
    await expect(vote(instance, review, "key-of-bob", CORRECT)).rejects.toMatchObject({
      code: "action_not_possible",
      message: expect.stringContaining("may show a deal 2 seconds late"),
    });
    expect(await positions()).toHaveLength(1);
    const confirm = () => vote(instance, review, "key-of-bob", CORRECT).catch(() => undefined);
    await eventually(confirm, (decided) => decided !== undefined, 20_000);

    expect(await positions()).toEqual([]);
    expect(await isComplete(instance, login)).toBe(true);
  },
);

async function aLostDeposit({ control }: World, instance: Instance) {
  const login = await anAccount(instance);
  const { legs } = await instance.service.transfer(aDeposit(login, 9_00n), aCall());
  const ticket = legs[0]!.dealId;
  await control.removeDeal(Number(ticket));
  return { login, review: await reviewOfLost(instance, login, ticket) };
}

async function reviewOfLost(instance: Instance, login: string, ticket: bigint): Promise<Review> {
  await reportChanged(instance.deps, [{ login, ticket, at: new Date(), shown: undefined }]);
  return await reviewOf(instance, login);
}

/** A break as the check `platform_balance` records it. */
async function insertBreak({ deps }: Instance, login: string, difference: bigint): Promise<void> {
  await execute(
    deps.pool,
    sql`insert into reconciliation_check (name, title, every_ms) values ('platform_balance', 'balances', 1) on conflict do nothing`,
  );
  await execute(
    deps.pool,
    sql`insert into reconciliation_break (check_name, key, opened_at, seen_at, login, master_login, at_risk_minor,
                                          operation_ids, deal_ids, message, evidence)
        values ('platform_balance', ${login}, now(), now(), ${login}, '', 900, '{}', '{}', 'differs',
                jsonb_build_object('difference_minor', ${String(difference)}::text))`,
  );
}

test.concurrent("an acknowledged difference is not reviewed again, and another one is", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const { login, review } = await aLostDeposit(world, instance);
  await compareChangedAccounts(instance.deps);
  await decideBoth(instance, review, { action: "acknowledge" });
  await compareChangedAccounts(instance.deps);
  expect(await openReviews(instance)).toEqual([]);

  await world.control.fix(login);
  await insertBreak(instance, login, -9_00n);
  await compareChangedAccounts(instance.deps);
  const again = await reviewOf(instance, login);
  expect(again).toMatchObject({ dealId: review.dealId, amount: { minorUnits: -9_00n } });
  await decideBoth(instance, again, { action: "acknowledge" });
  await compareChangedAccounts(instance.deps);
  expect(await openReviews(instance)).toEqual([]);
});
