import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { reviewFailingLegs } from "../jobs/review-failing-legs.ts";
import { aDeposit, aTransfer, aWithdrawal, feeLegs } from "../testing/requests.ts";
import { decideBoth, openReviews, reviewOf, vote } from "../testing/reviews.ts";
import { aCall, anAccount, aWorld, eventually, type Instance, type World, aProcessWith } from "../testing/world.ts";
import { recordedTransfer } from "../testing/recorded-transfer.ts";

/** Operators are asked when the quiet period after the permit is over, and long before the outage ends. */
const REVIEW_AFTER_MS = 6_000;
/** The tests wait for the quiet period and for the age of a review, on a machine that may be busy. */
const TIMEOUT = { timeout: 120_000 };
const ENDED_WITHIN_MS = 60_000;
const ALWAYS = 1_000_000;
const READS = ["deal/get_page", "deal/get_total", "deal/get_batch", "user/get", "user/get_batch"];

/** The platform answers, but no scan can use what it shows. */
async function failHistory({ control }: World): Promise<void> {
  await control.fault({ command: "deal/get_total", effect: "retcode:0", times: ALWAYS });
  await control.fault({ command: "deal/get_batch", effect: "retcode:0", times: ALWAYS });
}

type Applied = "drop_after" | "drop_before";
type Outage = (world: World) => Promise<void>;

async function aPlatform(world: World): Promise<Instance> {
  const settings = { reviewAfterMs: REVIEW_AFTER_MS };
  return await world.start({ quietPeriodMs: 1_000, commandTimeoutMs: 1_000, settings });
}

async function failReads({ control }: World): Promise<void> {
  for (const command of READS) await control.fault({ command, effect: "http:500", times: ALWAYS });
}

const legsOf = (instance: Instance) =>
  many<{ login: string; state: string }>(instance.deps.pool, sql`select login, state from leg order by number`);

async function reviewsOf(instance: Instance): Promise<string[]> {
  await reviewFailingLegs(instance.deps);
  return (await openReviews(instance)).map(({ reason }) => reason);
}

/** Once the legs of lost answers are old enough, each has one review, and is scanned on. */
async function untilReviewed(instance: Instance, count: number): Promise<void> {
  await eventually(
    () => reviewsOf(instance),
    (reasons) => reasons.length >= count,
    ENDED_WITHIN_MS,
  );
  expect(await reviewsOf(instance)).toEqual(Array.from({ length: count }, () => "still_unknown"));
  const unknown = (await legsOf(instance)).filter(({ state }) => state === "UNKNOWN");
  expect(unknown).toHaveLength(count);
}

/** A deposit of 7.00 whose answer is lost in an outage. Operators have its review. */
async function aLostDeposit(world: World, { effect, outage }: { effect: Applied; outage: Outage }) {
  const instance = await aPlatform(world);
  const login = await anAccount(instance);
  await world.control.fault({ command: "trade/balance", effect, times: 1 });
  await outage(world);
  const order = aDeposit(login, 7_00n);
  await instance.service.transfer(order, aCall(1_500));
  await untilReviewed(instance, 1);
  const review = await reviewOf(instance, "still_unknown");
  const ended = () =>
    eventually(
      () => recordedTransfer(instance.service, order.key),
      ({ state }) => state === TransferState.APPLIED || state === TransferState.REFUSED,
      ENDED_WITHIN_MS,
    );
  return { instance, login, review, ended };
}

test.concurrent(
  "after an outage of any length every leg ends by itself and once, and no review is left",
  TIMEOUT,
  async (context) => {
    const world = await aWorld(context);
    const instance = await aPlatform(world);
    const { service } = instance;
    const [first, second, third] = [await anAccount(instance), await anAccount(instance), await anAccount(instance)];
    const master = await anAccount(instance, "master");
    const payment = await anAccount(instance, "payment");
    for (const login of [first, second, third]) await service.transfer(aDeposit(login, 100_00n), aCall());
    const orders = [
      { effect: "drop_after", order: aDeposit(first, 7_00n) },
      { effect: "drop_before", order: aWithdrawal(second, 9_00n) },
      {
        effect: "drop_after",
        order: aTransfer("mirror", [{ login: master, kind: MovementKind.MIRROR, minor: 5_00n }]),
      },
      {
        effect: "drop_after",
        order: aTransfer("fee", feeLegs(third, payment, 3_00n)),
      },
    ] as const;
    await failReads(world);
    for (const { effect, order } of orders) {
      await world.control.fault({ command: "trade/balance", effect, times: 1 });
      await service.transfer(order, aCall(1_500));
    }
    await untilReviewed(instance, orders.length);
    const reviews = await openReviews(instance);
    expect(reviews.map(({ actions }) => actions)).toEqual(orders.map(() => ["confirm_applied", "confirm_not_applied"]));

    // No operator can decide that a leg moved no money while the platform does not answer.
    const decision = { action: "confirm_not_applied" };
    await expect(decideBoth(instance, reviews[0]!, decision)).rejects.toMatchObject({ code: "platform_unavailable" });

    await world.control.noFaults();

    const legs = await eventually(
      () => legsOf(instance),
      (rows) => rows.every(({ state }) => state === "APPLIED" || state === "REFUSED"),
      ENDED_WITHIN_MS,
    );
    expect(legs.filter(({ state }) => state === "REFUSED")).toEqual([{ login: second, state: "REFUSED" }]);
    expect(await reviewsOf(instance)).toEqual([]);
    await expect(vote(instance, reviews[0]!, "key-of-ann", decision)).rejects.toMatchObject({
      code: "review_decided",
    });
    const balances = { [first]: "107.00", [second]: "100.00", [third]: "97.00", [master]: "5.00", [payment]: "3.00" };
    for (const [login, balance] of Object.entries(balances)) {
      expect(await world.control.account(login), login).toMatchObject({ balance });
    }
  },
);

test.concurrent(
  "when only the history of the account is unreadable, two operators can end its leg, and a later deal of it is found",
  TIMEOUT,
  async (context) => {
    const world = await aWorld(context);
    const { instance, login, review, ended } = await aLostDeposit(world, { effect: "drop_after", outage: failHistory });
    const decision = { action: "confirm_not_applied" };

    await decideBoth(instance, review, decision);

    expect(await ended()).toMatchObject({ state: TransferState.REFUSED });
    expect(await reviewsOf(instance)).toEqual([]);
    await world.control.noFaults();
    // The operators were wrong: what was reported stays, and the deal is decided as any other after a refusal.
    await reviewOf(instance, "deal_after_refusal");
    expect((await world.control.deals(login)).map(({ profit }) => profit)).toEqual(["7.00"]);
  },
);

test.concurrent(
  "an approval is refused when the history can be read again since its proposal, and the leg ends by itself",
  TIMEOUT,
  async (context) => {
    const world = await aWorld(context);
    const { instance, login, review, ended } = await aLostDeposit(world, { effect: "drop_after", outage: failHistory });
    const decision = { action: "confirm_not_applied" };
    await vote(instance, review, "key-of-ann", decision);

    await world.control.noFaults();

    await expect(vote(instance, review, "key-of-bob", decision)).rejects.toMatchObject({ code: "action_not_possible" });
    expect(await ended()).toMatchObject({ state: TransferState.APPLIED });
    expect(await reviewsOf(instance)).toEqual([]);
    expect(await world.control.account(login)).toMatchObject({ balance: "7.00" });
  },
);

test.concurrent(
  "two operators can name the deal of a leg whose history is unreadable; it is booked once",
  TIMEOUT,
  async (context) => {
    const world = await aWorld(context);
    const { instance, login, review, ended } = await aLostDeposit(world, { effect: "drop_after", outage: failHistory });
    const [deal] = await world.control.deals(login);

    await decideBoth(instance, review, { action: "confirm_applied", dealId: BigInt(deal?.deal ?? 0) });

    expect(await ended()).toMatchObject({ state: TransferState.APPLIED });
    await world.control.noFaults();
    expect(await reviewsOf(instance)).toEqual([]);
    const logged = sql`select deal_id as deal, log_minor as sum from log_entry join account using (login) where login = ${login} and deal_id is not null`;
    expect(await many(instance.deps.pool, logged)).toEqual([{ deal: BigInt(deal?.deal ?? 0), sum: 7_00n }]);
  },
);

test.concurrent(
  "a command that may still arrive cannot be decided to have moved no money",
  TIMEOUT,
  async (context) => {
    const { world, instance, login } = await aProcessWith("investor", context, {
      quietPeriodMs: 60_000,
      commandTimeoutMs: 1_000,
      settings: { reviewAfterMs: 1 },
    });
    await failHistory(world);
    await world.control.fault({ command: "trade/balance", effect: "drop_before", times: 1 });
    await instance.service.transfer(aDeposit(login, 7_00n), aCall(1_500));
    await untilReviewed(instance, 1);
    const review = await reviewOf(instance, "still_unknown");
    const vetoed = vote(instance, review, "key-of-ann", { action: "confirm_not_applied" });
    await expect(vetoed).rejects.toMatchObject({ code: "action_not_possible" });
  },
);
