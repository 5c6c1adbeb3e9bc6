import { expect, test } from "vitest";
import { HOUR_MS } from "#kernel/duration.ts";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { type Review, ReviewState } from "#proto/pamm/common/v1/review.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { AccountReader } from "../reader/account-reader.ts";
import { CONFIRM_AFTER_MS } from "./deleted-deals.ts";
import { recheckAccount } from "./recheck-account.ts";
import { reportAmendments } from "./report-amendments.ts";
import { listUnreconciledLogins } from "../store/amendments.ts";
import { readLogin } from "../protocol/history/read-history.ts";
import { losing } from "../testing/losing.ts";
import { logOf, summaryOf } from "../testing/log-of.ts";
import { aDeposit, aTransfer } from "../testing/requests.ts";
import { decideBoth, openReviews, vote } from "../testing/reviews.ts";
import { aCall, anAccount, eventually, type Instance, type World, aProcess, aProcessWith } from "../testing/world.ts";
import { onlyReader } from "../testing/reader-role.ts";

/** The server loses the deals of this period; it is longer than the period that every run reads again. */
const LOST_PERIOD_MS = 60_000;
const TIMEOUT_MS = 120_000;

async function openReviewsOf(instance: Instance, login: string, count: number): Promise<Review[]> {
  const open = await eventually(
    async () => (await openReviews(instance)).filter((review) => review.login === login),
    (found) => found.length === count,
    40_000,
  );
  return open.toSorted((left, right) => Number(left.dealId - right.dealId));
}

const isComplete = async ({ service }: Instance, login: string): Promise<boolean> =>
  (await service.readAccount({ login }, aCall())).complete;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

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

const correct = (instance: Instance, review: Review) => decideBoth(instance, review, { action: "correct_log" });

test.concurrent(
  "lost deals of the service and of a trader are corrected one by one, until the balance of the log equals that of the account",
  async (context) => {
    const { world, instance, service } = await aProcess(context, { hasJobs: false });
    const master = await anAccount(instance, "master");
    const mirror = aTransfer("mirror:1", [{ login: master, kind: MovementKind.MIRROR, minor: 9_00n }]);
    const mirrored = await service.transfer(mirror, aCall());
    await world.control.result(master, "5.00");
    await reportLost(instance, () => world.control.restart(LOST_PERIOD_MS));
    const reviews = await openReviewsOf(instance, master, 3);
    expect(reviews.map(({ reason, actions }) => [reason, actions])).toEqual([
      ["applied_deal_gone", ["correct_log", "acknowledge"]],
      ["deal_gone", ["correct_log", "acknowledge"]],
      ["deal_gone", ["correct_log", "acknowledge"]],
    ]);
    expect(JSON.parse(reviews[0]!.evidence)).toMatchObject({ correction_minor: "-900", now_shown: "no such deal" });
    expect(await isComplete(instance, master)).toBe(false);

    for (const review of reviews) expect((await correct(instance, review)).state).toBe(ReviewState.DECIDED);

    const log = await logOf(instance, master, 9);
    expect(log.slice(6).map(summaryOf)).toEqual(["CORRECTION -9.00", "CORRECTION 0.00", "CORRECTION -5.00"]);
    expect(log[6]).toMatchObject({ dealId: mirrored.legs[0]!.dealId, key: "", transferId: 0n, reason: "deal_gone" });
    expect(await isComplete(instance, master)).toBe(true);
    expect(await many(instance.deps.pool, sql`select from open_position`)).toEqual([]);
    // The reported result stays APPLIED, no command is sent again, and no amendment is reported twice.
    expect((await service.transfer(mirror, aCall())).state).toBe(TransferState.APPLIED);
    const reader = new AccountReader(instance.deps, onlyReader);
    await reader.read({ backMs: LOST_PERIOD_MS, findsDeleted: true });
    await pause(CONFIRM_AFTER_MS);
    await reader.read({ backMs: LOST_PERIOD_MS, findsDeleted: true });
    expect(await logOf(instance, master, 9)).toHaveLength(9);
    expect(await openReviews(instance)).toEqual([]);
    expect(await world.control.deals(master)).toEqual([]);
  },
  TIMEOUT_MS,
);

test.concurrent(
  "an edited deal is corrected after its balance was adjusted, and reported again after another edit",
  async (context) => {
    const { world, instance, login } = await aProcessWith("master", context);
    const { deal } = await world.control.result(login, "5.00");
    await logOf(instance, login, 2);
    await world.control.editDeal(deal, { profit: "6.00" });
    const [review] = await openReviewsOf(instance, login, 1);
    const refused = vote(instance, review!, "key-of-ann", { action: "correct_log" });
    await expect(refused).rejects.toMatchObject({
      code: "action_not_possible",
      message: expect.stringContaining(`The trading platform shows 5.00 on ${login}, but its history sums to 6.00`),
    });
    await world.control.fix(login);
    await correct(instance, review!);
    expect((await logOf(instance, login, 4)).map(summaryOf).slice(3)).toEqual(["CORRECTION 1.00"]);
    expect(await isComplete(instance, login)).toBe(true);

    await world.control.editDeal(deal, { profit: "4.00" });
    await world.control.fix(login);
    const [second] = await openReviewsOf(instance, login, 1);
    expect(JSON.parse(second!.evidence)).toMatchObject({ correction_minor: "-200" });
    await correct(instance, second!);

    const log = await logOf(instance, login, 6);
    expect(log.map(summaryOf).slice(4)).toEqual(["AMENDMENT 0.00", "CORRECTION -2.00"]);
    expect(log[5]).toMatchObject({ dealId: BigInt(deal), reason: "deal_changed" });
    expect(await isComplete(instance, login)).toBe(true);
  },
  TIMEOUT_MS,
);

test.concurrent(
  "the first vote becomes void when the deal changes before the second vote",
  async (context) => {
    const { world, instance, login } = await aProcessWith("master", context);
    const { deal } = await world.control.result(login, "5.00");
    await logOf(instance, login, 2);
    await world.control.editDeal(deal, { profit: "6.00" });
    await world.control.fix(login);
    const [review] = await openReviewsOf(instance, login, 1);
    await vote(instance, review!, "key-of-ann", { action: "correct_log" });
    await world.control.editDeal(deal, { profit: "7.00" });
    await world.control.fix(login);

    await expect(vote(instance, review!, "key-of-bob", { action: "correct_log" })).rejects.toMatchObject({
      code: "action_not_possible",
      message: expect.stringMatching(/now shows deal \d+ as: 7\.00 .* The correction would be 2\.00/),
    });
    const [renewed] = await openReviewsOf(instance, login, 1);
    expect(renewed).toMatchObject({ id: review!.id, state: ReviewState.OPEN });
    expect(JSON.parse(renewed!.evidence)).toMatchObject({ correction_minor: "200", differences: ["profit"] });
    await correct(instance, renewed!);
    expect((await logOf(instance, login, 4)).map(summaryOf).slice(3)).toEqual(["CORRECTION 2.00"]);
  },
  TIMEOUT_MS,
);

test.concurrent("an unchanged deal needs no correction, and one that reappears after its correction is reported again and booked once", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context, { hasJobs: false });
  const { legs } = await instance.service.transfer(aDeposit(login, 9_00n), aCall());
  const [{ comment } = { comment: "" }] = await world.control.deals(login);
  const bookAgain = async (): Promise<void> => {
    const { deal } = await world.control.balance(login, "9.00", comment);
    expect(BigInt(deal)).toBe(legs[0]!.dealId);
  };
  // The reader was shown the deal, misses it, and asks for its ticket some seconds later.
  const reader = new AccountReader(instance.deps, onlyReader);
  const read = (findsDeleted: boolean) => reader.read({ backMs: LOST_PERIOD_MS, findsDeleted });
  await read(true);
  await world.control.restart(LOST_PERIOD_MS);
  await read(true);
  await pause(CONFIRM_AFTER_MS + 200);
  await read(false);
  const [review] = await openReviewsOf(instance, login, 1);
  await bookAgain();
  await expect(vote(instance, review!, "key-of-ann", { action: "correct_log" })).rejects.toMatchObject({
    code: "action_not_possible",
    message: expect.stringContaining("No correction is needed"),
  });
  await world.control.restart(LOST_PERIOD_MS);
  await correct(instance, review!);
  expect((await instance.deps.mt5.getUser(login))?.balanceMinor).toBe(0n);

  await bookAgain();
  await read(false);
  const [again] = await openReviewsOf(instance, login, 1);
  expect(again).toMatchObject({ reason: "applied_deal_differs", actions: ["correct_log", "reverse", "acknowledge"] });
  expect(JSON.parse(again!.evidence)).toMatchObject({ correction_minor: "900", differences: ["is_back"] });
  await correct(instance, again!);
  await read(false);

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

test.concurrent.for([false, true])(
  "a decision whose process crashes during its commit (committed: %s) is recorded completely or not at all, and once",
  { timeout: TIMEOUT_MS },
  async (isCommitted, context) => {
    const { world, instance, service } = await aProcess(context, { hasJobs: false });
    for (const commit of [1, 2, 3, 4]) {
      const login = await anAccount(instance);
      const { legs } = await service.transfer(aDeposit(login, 9_00n), aCall());
      await world.control.removeDeal(Number(legs[0]!.dealId));
      await world.control.fix(login);
      const review = await reviewOfLost(instance, login, legs[0]!.dealId);
      await vote(instance, review, "key-of-ann", { action: "correct_log" });
      const secondVote = {
        reviewId: review.id,
        action: "correct_log",
        dealId: 0n,
        note: "seen",
        actor: "key-of-bob",
        keyId: "KeyOfOneTest",
      };

      // The operator repeats the vote with another process.
      await losing(instance, { commit, isCommitted })
        .decideReview(secondVote, aCall())
        .catch(() => undefined);
      const repeated = await service
        .decideReview({ ...secondVote, actor: "key-of-cid" }, aCall())
        .catch((error: unknown) => error);

      if (repeated instanceof Error) expect(repeated).toMatchObject({ code: "review_decided" });
      const decided = sql`select state, done_at is not null as done from review_case where id = ${review.id}`;
      expect(await many(instance.deps.pool, decided)).toEqual([{ state: "DECIDED", done: true }]);
      const log = (await logOf(instance, login, 3)).map(summaryOf);
      expect(log).toEqual(["DEPOSIT 9.00", "AMENDMENT 0.00", "CORRECTION -9.00"]);
      expect(await isComplete(instance, login)).toBe(true);
    }
    const status = await many(instance.deps.pool, sql`select distinct state, came_from from leg`);
    expect(status).toEqual([{ state: "APPLIED", came_from: null }]);
  },
);

test.concurrent(
  "a log is not corrected while the platform shows other positions, and a position whose deal is corrected as deleted is closed in it",
  async (context) => {
    const { world, instance } = await aProcess(context, { hasJobs: false });
    const anOpenPosition = async () => {
      const login = await anAccount(instance, "master");
      await world.control.balance(login, "500");
      const { deal } = await world.control.open(login, "0.1");
      await readLogin(instance.deps, login);
      return { login, deal };
    };
    const [odd, { login }] = [await anOpenPosition(), await anOpenPosition()];
    const positions = () => many(instance.deps.pool, sql`select volume from open_position where login = ${login}`);
    expect(await positions()).toEqual([{ volume: 10_000_000n }]);
    await pause(1_000);
    await reportLost(instance, () => world.control.removeDeal(odd.deal));
    const [review] = await openReviewsOf(instance, odd.login, 1);
    await expect(vote(instance, review!, "key-of-ann", { action: "correct_log" })).rejects.toMatchObject({
      code: "action_not_possible",
      message: expect.stringContaining(`The open positions of ${odd.login} differ from its history`),
    });

    await reportLost(instance, () => world.control.restart(LOST_PERIOD_MS));
    for (const lost of await openReviewsOf(instance, login, 2)) await correct(instance, lost);

    expect(await positions()).toEqual([]);
    expect(await isComplete(instance, login)).toBe(true);
  },
  TIMEOUT_MS,
);

async function aLostDeposit({ control }: World, instance: Instance, lose?: () => Promise<unknown>) {
  const login = await anAccount(instance);
  const { legs } = await instance.service.transfer(aDeposit(login, 9_00n), aCall());
  const ticket = legs[0]!.dealId;
  await (lose === undefined ? control.removeDeal(Number(ticket)) : lose());
  return { login, review: await reviewOfLost(instance, login, ticket) };
}

async function reviewOfLost(instance: Instance, login: string, ticket: bigint): Promise<Review> {
  const deleted = { login, ticket, at: new Date(), recorded: undefined, shown: undefined, differences: [] };
  await reportAmendments(instance.deps, [{ ...deleted, amendment: "deal_gone" }]);
  const [review] = await openReviewsOf(instance, login, 1);
  return review!;
}

/** A break as the check `platform_balance` records it. */
async function insertBreak({ deps }: Instance, login: string): Promise<void> {
  await execute(
    deps.pool,
    sql`insert into reconciliation_check (name, title, every_ms) values ('platform_balance', 'balances', 1) on conflict do nothing`,
  );
  await execute(
    deps.pool,
    sql`insert into reconciliation_break (check_name, key, opened_at, seen_at, login, master_login, at_risk_minor,
                                          operation_ids, deal_ids, message, evidence)
        values ('platform_balance', ${login}, now(), now(), ${login}, '', 900, '{}', '{}', 'differs', '{}')`,
  );
}

async function recheckUnreconciled(instance: Instance): Promise<void> {
  for (const login of await listUnreconciledLogins(instance.deps.pool, 10)) await recheckAccount(instance.deps, login);
}

test.concurrent("an acknowledged amendment gets a new review after the balance was adjusted to it", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const { login, review } = await aLostDeposit(world, instance);
  await decideBoth(instance, review, { action: "acknowledge" });
  await insertBreak(instance, login);
  await recheckUnreconciled(instance);
  expect(await openReviews(instance)).toEqual([]);

  await world.control.fix(login);
  await recheckUnreconciled(instance);
  await recheckUnreconciled(instance);

  const [again] = await openReviewsOf(instance, login, 1);
  expect(again).toMatchObject({ reason: "deal_gone", dealId: review.dealId, actions: ["correct_log", "acknowledge"] });
  await correct(instance, again!);
  await recheckUnreconciled(instance);
  expect(await openReviews(instance)).toEqual([]);
  expect((await logOf(instance, login, 3)).map(summaryOf)).toEqual([
    "DEPOSIT 9.00",
    "AMENDMENT 0.00",
    "CORRECTION -9.00",
  ]);
});

test.concurrent("a deal that reappears outside the period that the reader reads is reported", async (context) => {
  // The reader starts after every deal of this server.
  const nowMs = () => Date.now() - 2 * HOUR_MS;
  const { world, instance } = await aProcess(context, { hasJobs: false, now: () => new Date(nowMs()) }, { nowMs });
  const { login, review } = await aLostDeposit(world, instance, () => world.control.restart(LOST_PERIOD_MS));
  await correct(instance, review);
  const { deal } = await world.control.balance(login, "9.00");
  expect(BigInt(deal)).toBe(review.dealId);
  expect(await isComplete(instance, login)).toBe(false);
  expect(await openReviews(instance)).toEqual([]);
  await insertBreak(instance, login);

  await recheckUnreconciled(instance);

  const [again] = await openReviewsOf(instance, login, 1);
  expect(again!.reason).toBe("applied_deal_differs");
  await correct(instance, again!);
  expect(await isComplete(instance, login)).toBe(true);
  expect((await logOf(instance, login, 5)).map(summaryOf).at(-1)).toBe("CORRECTION 9.00");
});
