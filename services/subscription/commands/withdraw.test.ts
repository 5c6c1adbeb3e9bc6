import { v7 as uuidv7 } from "uuid";
import { expect, test, vi } from "vitest";
import { refusalToProto } from "#kernel/contract/error.ts";
import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferAnswer, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { WithdrawalState } from "#proto/pamm/subscription/v1/subscription.ts";
import { balanceOf, enter, getAccount } from "#test/support/platform-fake/ledger.ts";
import type { Deps } from "../deps.ts";
import { settleDepartures } from "../jobs/settle-departures.ts";
import { subscriptionService } from "../service.ts";
import { departureCommits } from "../store/departure-commits.ts";
import { expectBooksToReconcile } from "../testing/books.ts";
import { debtKey } from "../testing/fee-fake.ts";
import { decideWithdrawal, holdForWithdrawal, requestWithdrawal, withdraw } from "../testing/funding.ts";
import { inBucket, publishedEvents } from "../testing/ledger.ts";
import { createLatch, pausedAt, pausedAtTerms } from "../testing/paused.ts";
import { settle, subscribed, aPair, settleAndReconcile } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { aCall, aMaster, anInvestor, aWorld, passTime, withFees, type World } from "../testing/world.ts";

const { PAID, REFUSED, REVIEW, UNKNOWN } = WithdrawalState;

/** Longer than any claim and any deadline. */
const LONG_MS = 60_000;
/** Time for one call of the platform service, and not for another one. */
const ONE_CALL_MS = 1_500;

const cents = (minorUnits: bigint) => ({ currencyCode: "USD", minorUnits });

/** A replica to which the platform service answers otherwise. */
function withPlatform({ deps, ...world }: World, platform: Partial<Deps["platform"]>): World {
  const other: Deps = { ...deps, platform: { ...deps.platform, ...platform } };
  return { ...world, deps: other, service: subscriptionService(other) };
}

/** What platform refuses because an equal operation was executed before its database was restored. */
function repeatsLost(): Refusal {
  const facts = { code: "possible_duplicate", status: "conflict", message: "An equal one was executed." } as const;
  return new Refusal({ ...facts, outcome: "not_executed", details: { deal_id: "77" }, operationId: "lost" });
}

const REPEATED: TransferAnswer["answer"] = { $case: "refusal", value: refusalToProto(repeatsLost()) };

const chainOf = (answer: TransferAnswer["answer"]) => ({ answers: [{ answer }] });

/** The states of all departures with their tries, in the sequence of their requests. */
async function rows({ deps }: World): Promise<string[]> {
  const found = await many<{ row: string }>(
    deps.pool,
    sql`select concat_ws(' ', state, try, refusal ->> 'code', case when lock_owner is not null then 'locked' end) as row
        from departure order by requested_at, operation_id`,
  );
  return found.map(({ row }) => row);
}

function lockOf({ platform }: World, login: string): string | undefined {
  return getAccount(platform.ledger, login).lockOwner;
}

async function recover(world: World): Promise<void> {
  await passTime(world, LONG_MS);
  await settle(world);
}

test("a withdrawal outside a pool is paid under its account lock, which the payout releases", async () => {
  const world = await aWorld();
  const login = anInvestor(world, 100_00n);
  const chains = vi.spyOn(world.platform.client, "transferChain");
  const call = aCall();
  const { commandId: id } = call;

  expect(await requestWithdrawal(world, login, 40_00n, { comment: "CRM-2", call })).toEqual({
    state: PAID,
    refusal: undefined,
    inPool: false,
    figures: {
      balanceBefore: cents(100_00n),
      pendingFee: cents(0n),
      availableAfterFee: cents(100_00n),
      effective: cents(40_00n),
    },
    dealId: world.platform.ledger.feed.at(-1)?.dealId,
    hasWaited: false,
  });
  const [paid] = world.platform.deals.slice(-1);
  const lockOwner = `subscription:departure:${id}:1`;
  expect(paid).toEqual({ key: `withdrawal:${id}`, login, minor: -40_00n, comment: "CRM-2", lockOwner });
  // A busy account refuses the payout rather than queue it, and it has no deadline.
  const [[chain] = []] = chains.mock.calls;
  expect(chain?.requests[0]).toMatchObject({
    enqueue: false,
    upTo: undefined,
    sendBefore: undefined,
    releaseLock: true,
  });
  expect(world.platform.released).toContain(lockOwner);
  expect(await rows(world)).toEqual(["ENDED 1"]);
  await settle(world);
  expect(balanceOf(world.platform.ledger, login)).toBe(60_00n);
  expect(await publishedEvents(world, "subscription.withdrawals")).toEqual([]);
  await expectBooksToReconcile(world);
});

test("a withdrawal from a pool posts the results, collects the fee and is reduced to what is left", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  world.fees.rules.ratePpm = 300_000;
  trader(world, masterLogin).result(100_00n);
  const call = aCall();

  expect(await requestWithdrawal(world, investorLogin, 1_000_00n, { call })).toMatchObject({
    state: PAID,
    inPool: true,
    figures: {
      balanceBefore: cents(600_00n),
      pendingFee: cents(30_00n),
      availableAfterFee: cents(570_00n),
      effective: cents(570_00n),
    },
  });
  const kinds = getAccount(world.platform.ledger, investorLogin).log.map(({ kind }) => kind);
  expect(kinds.slice(-3)).toEqual([MovementKind.RESULT, MovementKind.FEE_DEBIT, MovementKind.WITHDRAWAL]);
  const [{ request } = {}] = world.fees.recorded.values();
  expect(request).toMatchObject({ key: `withdrawal:${call.commandId}` });
  expect([balanceOf(world.platform.ledger, investorLogin), lockOf(world, investorLogin)]).toEqual([0n, undefined]);
  await settleAndReconcile(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(0n);
});

test("of an empty account nothing is paid and there is no deal; a fee that leaves nothing is collected", async () => {
  const world = await aWorld();
  const empty = await requestWithdrawal(world, anInvestor(world), 40_00n);
  expect(empty).toMatchObject({ state: PAID, figures: { effective: cents(0n) }, dealId: undefined });

  world.fees.rules.debt = () => 70_00n;
  const login = anInvestor(world, 50_00n);
  const call = aCall();
  expect(await requestWithdrawal(world, login, 40_00n, { call })).toMatchObject({
    state: PAID,
    figures: { effective: cents(0n), availableAfterFee: cents(0n) },
    dealId: undefined,
  });
  expect(world.platform.byKey.has(debtKey(login, `withdrawal:${call.commandId}`))).toBe(true);
  expect(await rows(world)).toEqual(["ENDED 1", "ENDED 1"]);
  expect([balanceOf(world.platform.ledger, login), lockOf(world, login)]).toEqual([0n, undefined]);
});

test("a request with several invalid fields is refused with all of them, and nothing is recorded", async () => {
  const world = await aWorld();
  const request = { operationId: "", investorLogin: "x", amount: cents(0n), comment: "", deadline: undefined };
  await expect(world.service.withdraw(request, aCall())).rejects.toMatchObject({
    code: "validation_failed",
    errors: [{ field: "operation_id" }, { field: "investor_login" }, { field: "amount" }, { field: "deadline" }],
  });
  expect(await rows(world)).toEqual([]);
});

test("a withdrawal whose deadline has passed before it begins is refused, and never begins", async () => {
  const world = await aWorld();
  const login = anInvestor(world, 100_00n);
  const operation = { operationId: uuidv7(), deadline: new Date(Date.now() - 1) };
  const first = await requestWithdrawal(world, login, 40_00n, operation);
  expect(first).toMatchObject({
    state: REFUSED,
    refusal: { code: "platform_unavailable", outcome: expect.anything() },
    hasWaited: false,
  });
  const queued = { ...operation, queueUntil: new Date(Date.now() + LONG_MS) };
  expect(await requestWithdrawal(world, login, 40_00n, queued)).toEqual(first);
  await recover(world);
  expect(balanceOf(world.platform.ledger, login)).toBe(100_00n);
});

test("outside a pool nothing is decided when the account lock may be lost with commits of another database", async () => {
  const world = await aWorld();
  const withdrawal = await holdForWithdrawal(world, anInvestor(world, 100_00n), 40_00n);
  await expect(decideWithdrawal(world, { ...withdrawal, database: "another" })).rejects.toMatchObject({
    code: "account_busy",
    outcome: "not_executed",
  });
  await expect(decideWithdrawal(world, withdrawal)).resolves.toMatchObject({ effective: 40_00n });
});

test("a request that comes in time and is recorded after a late one was refused does not begin", async () => {
  const world = await aWorld();
  const login = anInvestor(world, 100_00n);
  const latch = createLatch();
  const { pool } = world.deps;
  // The process stands still between its look at the deadline and its first statement.
  const slow = Object.create(pool, {
    query: { value: async (...args: never) => (await latch.pass(), await pool.query(...(args as [string]))) },
  }) as Deps["pool"];
  const deps = { ...world.deps, pool: slow, departureCommits: departureCommits(slow, world.deps.now) };
  const operation = { operationId: uuidv7(), deadline: new Date(world.deps.now().getTime() + LONG_MS) };
  const early = requestWithdrawal({ deps, service: subscriptionService(deps) }, login, 40_00n, operation);
  await latch.reached;
  await passTime(world, LONG_MS);
  const late = await requestWithdrawal(world, login, 40_00n, operation);
  expect(late.state).toBe(REFUSED);
  latch.open();
  expect(await early).toEqual(late);
  await recover(world);
  expect(balanceOf(world.platform.ledger, login)).toBe(100_00n);
});

test("a withdrawal that has begun in time is joined after its deadline too", async () => {
  const world = await aWorld();
  const login = anInvestor(world, 100_00n);
  const operation = { operationId: uuidv7(), deadline: new Date(Date.now() + LONG_MS) };
  const first = await requestWithdrawal(world, login, 40_00n, operation);
  await passTime(world, 2 * LONG_MS);
  expect(await requestWithdrawal(world, login, 40_00n, operation)).toEqual(first);
  expect(balanceOf(world.platform.ledger, login)).toBe(60_00n);
});

test("a repetition while it runs joins it, and one after its end gets the same figures and deal", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  world.fees.rules.ratePpm = 300_000;
  trader(world, masterLogin).result(100_00n);
  const call = aCall();
  const { latch, ...replica } = pausedAtTerms(world);
  const first = requestWithdrawal(replica, investorLogin, 200_00n, { call });
  await latch.reached;
  const joined = requestWithdrawal(world, investorLogin, 200_00n, { call });
  latch.open();
  const answer = await first;
  expect(answer).toMatchObject({ state: PAID, figures: { pendingFee: cents(30_00n), effective: cents(200_00n) } });
  expect(answer.dealId).toBeGreaterThan(0n);
  expect(await joined).toEqual(answer);
  await settle(world);
  expect(await requestWithdrawal(world, investorLogin, 200_00n, { call })).toEqual(answer);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(370_00n);
  expect(world.platform.deals.filter(({ key }) => key.startsWith("withdrawal:"))).toHaveLength(1);
});

test("a repetition does not know the outcome of a try that runs longer than it waits", async () => {
  const world = await aWorld();
  const login = anInvestor(world, 100_00n);
  const call = aCall();
  const { latch, ...replica } = pausedAt(world, "hold");
  const first = requestWithdrawal(replica, login, 40_00n, { call });
  await latch.reached;
  const short = aCall({ commandId: call.commandId, withinMs: 1_000 });
  await expect(requestWithdrawal(world, login, 40_00n, { call: short })).rejects.toMatchObject({
    code: "outcome_unknown",
    operationId: call.commandId,
  });
  latch.open();
  expect((await first).state).toBe(PAID);
});

test("a withdrawal waits for a busy account, and is refused when it stays busy; each try has a lock of its own", async () => {
  const world = await aWorld();
  const login = anInvestor(world, 100_00n);
  world.platform.faults.hold.push("account_busy", "account_busy");
  const call = aCall();
  expect((await requestWithdrawal(world, login, 40_00n, { call })).state).toBe(PAID);
  expect(world.platform.released).toEqual(
    [1, 2, 3].map((number) => `subscription:departure:${call.commandId}:${number}`),
  );

  const lock = { login, lockOwner: "another" };
  await world.platform.client.hold({ ...lock, withdrawal: undefined }, aCall());
  expect(await requestWithdrawal(world, login, 40_00n, { call: aCall({ withinMs: 1_500 }) })).toMatchObject({
    state: REFUSED,
    refusal: { code: "account_busy" },
  });
  expect(lockOf(world, login)).toBe("another");
});

test("after a lost answer of the account lock nothing is executed, and the lock is released", async () => {
  const world = await aWorld();
  const login = anInvestor(world, 100_00n);
  world.platform.faults.hold.push("lost answer");
  const call = aCall();
  const answer = await requestWithdrawal(world, login, 40_00n, { call });
  expect(answer).toMatchObject({ state: REFUSED, refusal: { code: "platform_unavailable" } });
  expect(lockOf(world, login)).toBeUndefined();
  expect(await requestWithdrawal(world, login, 40_00n, { call })).toEqual(answer);
  await recover(world);
  expect(balanceOf(world.platform.ledger, login)).toBe(100_00n);
});

test("the account lock of a refused withdrawal whose release failed is released by the recovery job", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  trader(world, masterLogin).openSome(1);
  world.platform.faults.release.push("unreachable");
  const answer = await requestWithdrawal(world, investorLogin, 40_00n);
  expect(answer).toMatchObject({ state: REFUSED, refusal: { code: "master_open_positions" } });
  expect(lockOf(world, investorLogin)).toBeDefined();
  await settleDepartures(world.deps);
  expect(lockOf(world, investorLogin)).toBeUndefined();
  expect(await rows(world)).toEqual(["REFUSED 1 master_open_positions"]);
});

test("open positions and a deficit refuse a withdrawal that is not to wait, and its lock is released", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const master = trader(world, masterLogin);
  master.openSome(2);
  expect(await requestWithdrawal(world, investorLogin, 40_00n)).toMatchObject({
    state: REFUSED,
    refusal: { code: "master_open_positions", details: { open_positions: "2" } },
    hasWaited: false,
  });
  master.closeAll();
  master.result(-600_00n);
  expect(await requestWithdrawal(world, investorLogin, 40_00n)).toMatchObject({
    state: REFUSED,
    refusal: { code: "investor_deficit", details: { deficit: "100.00" } },
  });
  expect(lockOf(world, investorLogin)).toBeUndefined();
  expect(world.platform.deals.filter(({ key }) => key.startsWith("withdrawal:"))).toEqual([]);
});

test.each(["is lost", "does not come: fee is not reached"])(
  "when the answer to recorded fees %s, the account stays locked, and the recovery job finishes what was decided",
  async (fault) => {
    const world = await aWorld();
    const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
    world.fees.rules.ratePpm = 300_000;
    trader(world, masterLogin).result(100_00n);
    const { recordFees } = world.fees.client;
    const replica = withFees(world, {
      recordFees: async (...args) => {
        if (fault === "is lost") await recordFees(...args);
        throw serviceUnavailable("fee");
      },
    });
    const call = aCall();
    await expect(requestWithdrawal(replica, investorLogin, 200_00n, { call })).rejects.toMatchObject({
      code: "outcome_unknown",
      operationId: call.commandId,
    });
    expect(await rows(world)).toEqual(["DECIDED 1 locked"]);
    expect(lockOf(world, investorLogin)).toBe(`subscription:departure:${call.commandId}:1`);

    // What is decided is completed after its deadline too.
    await recover(world);
    expect(await rows(world)).toEqual(["ENDED 1"]);
    expect(await requestWithdrawal(world, investorLogin, 200_00n, { call })).toMatchObject({
      state: PAID,
      figures: { pendingFee: cents(30_00n), effective: cents(200_00n) },
    });
    expect(balanceOf(world.platform.ledger, investorLogin)).toBe(370_00n);
    await expectBooksToReconcile(world);
  },
);

test("a repetition completes what is decided, without another decision", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 200_00n);
  await decideWithdrawal(world, withdrawal);
  trader(world, masterLogin).result(100_00n);
  const { operationId } = withdrawal;
  expect(await requestWithdrawal(world, investorLogin, 200_00n, { operationId })).toMatchObject({
    state: PAID,
    figures: { balanceBefore: cents(500_00n), effective: cents(200_00n) },
  });
  await recover(world);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(400_00n);
  await expectBooksToReconcile(world);
});

test("a payout that is lost, or does not reach the platform service, is sent again while its caller waits", async () => {
  const world = await aWorld();
  const login = anInvestor(world, 100_00n);
  for (const fault of ["unreachable", "lost answer"] as const) {
    world.platform.faults.transfer.push(fault, fault);
    expect((await requestWithdrawal(world, login, 40_00n)).state).toBe(PAID);
  }
  expect(balanceOf(world.platform.ledger, login)).toBe(20_00n);
});

test.each(["unreachable", "lost answer", "unknown"] as const)(
  "the outcome of a payout with the fault %s is unknown; the recovery job finishes it, and it is paid once",
  async (fault) => {
    const world = await aWorld();
    const login = anInvestor(world, 100_00n);
    world.platform.faults.transfer.push(fault);
    const call = aCall();
    const short = aCall({ commandId: call.commandId, withinMs: ONE_CALL_MS });
    expect(await requestWithdrawal(world, login, 40_00n, { call: short })).toMatchObject({
      state: UNKNOWN,
      figures: undefined,
    });
    expect(await rows(world)).toEqual(["DECIDED 1 locked"]);

    await recover(world);
    expect(await rows(world)).toEqual(["ENDED 1"]);
    const answer = await requestWithdrawal(world, login, 40_00n, { call });
    expect(answer).toMatchObject({ state: PAID, figures: { effective: cents(40_00n) } });
    expect(answer.dealId).toBeGreaterThan(0n);
    expect([balanceOf(world.platform.ledger, login), lockOf(world, login)]).toEqual([60_00n, undefined]);
  },
);

test("a payout that operators have to decide about is in REVIEW until they have, and its account stays locked", async () => {
  const world = await aWorld();
  const login = anInvestor(world, 100_00n);
  const result = { transferId: 1n, key: "", state: TransferState.REVIEW, refusalCode: "", platformCode: 0, legs: [] };
  const call = aCall();
  const reviewed = withPlatform(world, { transferChain: async () => chainOf({ $case: "result", value: result }) });
  expect(await requestWithdrawal(reviewed, login, 40_00n, { call })).toMatchObject({
    state: REVIEW,
    figures: undefined,
  });
  expect(lockOf(world, login)).toBeDefined();
  expect((await requestWithdrawal(reviewed, login, 40_00n, { call })).state).toBe(REVIEW);
  await settleDepartures(reviewed.deps);
  expect(await rows(world)).toEqual(["DECIDED 1 locked"]);

  await recover(world);
  expect((await requestWithdrawal(world, login, 40_00n, { call })).state).toBe(PAID);
  expect(balanceOf(world.platform.ledger, login)).toBe(60_00n);
});

test.each(["insufficient_funds", "expired"])(
  "a payout that is refused with %s keeps the collected fee, and its reserve returns to the pool",
  async (code) => {
    const world = await aWorld();
    const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
    world.fees.rules.debt = () => 30_00n;
    world.platform.rules.refuse = ({ key }) => (key.startsWith("withdrawal:") ? code : undefined);
    const call = aCall();
    const answer = await requestWithdrawal(world, investorLogin, 200_00n, { call });
    expect(answer).toMatchObject({
      state: REFUSED,
      refusal: { code: code === "expired" ? "platform_unavailable" : code },
      figures: undefined,
      dealId: undefined,
    });
    expect(lockOf(world, investorLogin)).toBeUndefined();
    expect(await requestWithdrawal(world, investorLogin, 200_00n, { call })).toEqual(answer);
    await settleAndReconcile(world);
    expect(await inBucket(world, masterLogin, "reserved")).toEqual([0n]);
    expect(await inBucket(world, masterLogin, "pooled")).toEqual([470_00n]);
    expect(balanceOf(world.platform.ledger, investorLogin)).toBe(470_00n);
  },
);

test("the reserve is returned before the account lock is released", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  world.platform.rules.refuse = ({ key }) => (key.startsWith("withdrawal:") ? "insufficient_funds" : undefined);
  const reserved: bigint[][] = [];
  const replica = withPlatform(world, {
    release: async (request, context) => {
      reserved.push(await inBucket(world, masterLogin, "reserved"));
      return await world.platform.client.release(request, context);
    },
  });
  await requestWithdrawal(replica, investorLogin, 200_00n);
  expect(reserved).toEqual([[0n]]);
});

test("a withdrawal that platform refuses as the repetition of a lost one ends before any fee is collected", async () => {
  const { world, investorLogin } = await aPair(500_00n);
  world.fees.rules.debt = () => 30_00n;
  const hold = vi.fn<Deps["platform"]["hold"]>(() => Promise.reject(repeatsLost()));
  const call = aCall();
  const request = () =>
    requestWithdrawal(withPlatform(world, { hold }), investorLogin, 200_00n, { comment: "CRM-2", call });
  const answer = await request();
  expect(answer).toMatchObject({
    state: REFUSED,
    refusal: { code: "possible_duplicate", details: { deal_id: "77" }, operationId: "lost" },
  });
  expect(hold.mock.calls.map(([asked]) => asked)).toMatchObject([
    { login: investorLogin, withdrawal: { amount: cents(200_00n), comment: "CRM-2" } },
  ]);
  expect(world.fees.recorded.size).toBe(0);
  expect(await request()).toEqual(answer);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(500_00n);
});

test("a payout that platform refuses as the repetition of a lost one ends the withdrawal, and its reserve returns", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const call = aCall();
  const replica = withPlatform(world, { transferChain: async () => chainOf(REPEATED) });
  const answer = await requestWithdrawal(replica, investorLogin, 200_00n, { call });
  expect(answer).toMatchObject({ state: REFUSED, refusal: { code: "possible_duplicate", details: { deal_id: "77" } } });
  expect(lockOf(world, investorLogin)).toBeUndefined();
  expect(await requestWithdrawal(world, investorLogin, 200_00n, { call })).toEqual(answer);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([500_00n]);
});

test("a refusal as a repetition after a lost answer proves nothing: the payout stays unknown, and is paid once", async () => {
  const world = await aWorld();
  const login = anInvestor(world, 100_00n);
  const { transferChain } = world.platform.client;
  world.platform.faults.transfer.push("lost answer");
  let calls = 0;
  const replica = withPlatform(world, {
    transferChain: async (...args) => ((calls += 1) === 1 ? transferChain(...args) : chainOf(REPEATED)),
  });
  const call = aCall();
  expect((await requestWithdrawal(replica, login, 40_00n, { call })).state).toBe(UNKNOWN);
  expect(calls).toBe(2);
  await recover(world);
  expect((await requestWithdrawal(world, login, 40_00n, { call })).state).toBe(PAID);
  expect(balanceOf(world.platform.ledger, login)).toBe(60_00n);
});

test.each(["in a pool", "outside a pool"])(
  "the recovery job ends a try %s whose process is gone, and its late decision is not carried out",
  async (place) => {
    const world = await aWorld();
    const isPooled = place === "in a pool";
    const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
    const login = isPooled ? investorLogin : anInvestor(world, 500_00n);
    const late = await holdForWithdrawal(world, login, 200_00n);
    await settleDepartures(world.deps);
    expect(await rows(world)).toEqual(["WANTED 1 locked"]);

    await recover(world);
    expect(await rows(world)).toEqual(["REFUSED 1 account_busy"]);
    expect(lockOf(world, login)).toBeUndefined();
    expect(await decideWithdrawal(world, late)).toMatchObject({ state: "REFUSED", effective: null });
    const { operationId } = late;
    expect(await requestWithdrawal(world, login, 200_00n, { operationId })).toMatchObject({
      state: REFUSED,
      refusal: { code: "account_busy" },
    });
    await settleAndReconcile(world);
    expect(await inBucket(world, masterLogin, "reserved")).toEqual([0n]);
    expect(balanceOf(world.platform.ledger, login)).toBe(500_00n);
  },
);

test("a process that is delayed before the fees finds its withdrawal completed by another one", async () => {
  const { world, investorLogin } = await aPair(500_00n);
  world.fees.rules.debt = () => 30_00n;
  const latch = createLatch();
  const { recordFees } = world.fees.client;
  const slow = withFees(world, {
    recordFees: async (...args) => {
      await latch.pass();
      await recordFees(...args);
      throw serviceUnavailable("fee");
    },
  });
  const call = aCall();
  const delayed = requestWithdrawal(slow, investorLogin, 200_00n, { call });
  await latch.reached;
  const other = await requestWithdrawal(world, investorLogin, 200_00n, { call });
  latch.open();
  expect(other.state).toBe(PAID);
  expect(await delayed).toEqual(other);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(270_00n);
});

test("a fee that is refused returns its reserve to the pool, and the payout goes on; fee learns it when it can be reached", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  world.fees.rules.debt = () => 30_00n;
  world.platform.rules.refuse = ({ key }) => (key.startsWith("fee:") ? "insufficient_funds" : undefined);
  const recordAnswers = vi.fn<Deps["fees"]["recordAnswers"]>(() => Promise.reject(serviceUnavailable("fee")));
  const answer = await requestWithdrawal(withFees(world, { recordAnswers }), investorLogin, 200_00n);
  expect(answer).toMatchObject({ state: PAID, figures: { effective: cents(200_00n) } });
  expect(recordAnswers.mock.calls.map(([{ fees }]) => fees)).toMatchObject([
    [{ key: expect.stringMatching(/^fee:/), answer: { answer: { value: { refusalCode: "insufficient_funds" } } } }],
  ]);
  await settleAndReconcile(world);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(300_00n);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([300_00n]);
});

test("a fee that finds its account busy is requested again within the same call", async () => {
  const { world, investorLogin } = await aPair(500_00n);
  world.fees.rules.debt = () => 30_00n;
  let requests = 0;
  world.platform.rules.isBusy = ({ key }) => key.startsWith("fee:") && (requests += 1) < 3;
  expect(await withdraw(world, investorLogin, 200_00n, "1")).toBe(200_00n);
  expect(requests).toBe(3);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(270_00n);
});

test("nothing is paid out while the outcome of a fee is unknown", async () => {
  const { world, investorLogin } = await aPair(500_00n);
  world.fees.rules.debt = () => 30_00n;
  world.platform.rules.delay = ({ key }) => key.startsWith("fee:");
  const call = aCall({ withinMs: ONE_CALL_MS });
  await expect(requestWithdrawal(world, investorLogin, 200_00n, { call })).rejects.toMatchObject({
    code: "outcome_unknown",
  });
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(500_00n);
  expect(await rows(world)).toEqual(["DECIDED 1 locked"]);
  world.platform.rules.delay = () => false;
  await recover(world);
  expect(await rows(world)).toEqual(["ENDED 1"]);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(270_00n);
});

test("money that comes to the account between its lock and the decision is read by the next try", async () => {
  const world = await aWorld();
  const login = anInvestor(world, 100_00n);
  const { hold } = world.platform.client;
  let holds = 0;
  const replica = withPlatform(world, {
    hold: async (...args) => {
      const held = await hold(...args);
      holds += 1;
      if (holds === 1) enter(world.platform.ledger, login, { kind: MovementKind.EXTERNAL, amount: 5_00n });
      return held;
    },
  });
  expect(await requestWithdrawal(replica, login, 40_00n)).toMatchObject({
    state: PAID,
    figures: { effective: cents(40_00n) },
  });
  await settleAndReconcile(world);
  expect(balanceOf(world.platform.ledger, login)).toBe(65_00n);
});
