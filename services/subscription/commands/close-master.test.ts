import { v7 as uuidv7, validate, version } from "uuid";
import { expect, test, vi } from "vitest";
import { balances } from "../testing/ledger.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { statesOf } from "#kernel/testing/states.ts";
import { OperationAction, OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { ClosingState, MarketWaitReason, SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { balanceOf, enter, getAccount } from "#test/support/platform-fake/ledger.ts";
import type { Deps } from "../deps.ts";
import { runQueued } from "../jobs/run-queued.ts";
import { STATES_FEED, subscriptionService } from "../service.ts";
import { beginClosing, queueLeavers, readClosings } from "../store/closings.ts";
import { acknowledgeExternal } from "../store/external-funds.ts";
import { lockMaster, stopMaster } from "../store/masters.ts";
import { readQueue } from "../store/departure-queue.ts";
import { expectBooksToReconcile } from "../testing/books.ts";
import { crashAtEveryPoint, CRASH_TEST_MS } from "../testing/crash-at-every-point.ts";
import { debtKey } from "../testing/fee-fake.ts";
import { settle, subscribed } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, passTime, type World } from "../testing/world.ts";

vi.setConfig({ testTimeout: CRASH_TEST_MS });

/** Longer than every pause of a queued unassign. */
const PAUSE_MS = 60_000;

async function withInvestors(
  count: number,
  world?: World,
): Promise<{ world: World; master: string; logins: string[] }> {
  const own = world ?? (await aWorld());
  const master = aMaster(own);
  const logins = Array.from({ length: count }, (_, index) => anInvestor(own, 1_000_00n + BigInt(index)));
  for (const investorLogin of logins) {
    await own.service.assign(anAssignment({ masterLogin: master, investorLogin }), aCall());
  }
  await settle(own);
  return { world: own, master, logins };
}

function close({ service }: Pick<World, "service">, masterLogin: string) {
  return service.closeMaster({ masterLogin }, aCall());
}

async function closingOf({ service }: World, masterLogin: string) {
  return (await service.getClosing({ masterLogin }, aCall())).closing;
}

/** The ledger's operations of a closing. */
async function unassignsOf(
  { service }: World,
  masterLogin: string,
  outcome: OperationOutcome = OperationOutcome.UNSPECIFIED,
) {
  const filter = { login: "", masterLogin, action: OperationAction.UNASSIGN, outcome };
  return (await service.listOperations({ ...filter, beforeId: "", limit: 100 }, aCall())).items;
}

async function settleLater(world: World): Promise<void> {
  await settle(world);
  await passTime(world, PAUSE_MS);
  await settle(world);
}

async function untilArchived(world: World, masterLogin: string): Promise<void> {
  await vi.waitFor(
    async () => {
      await settleLater(world);
      expect(await closingOf(world, masterLogin)).toMatchObject({ state: ClosingState.ARCHIVED });
    },
    { timeout: 20_000 },
  );
}

async function statuses({ deps }: World, master: string): Promise<Record<string, number>> {
  const rows = await many<{ status: string; count: number }>(
    deps.pool,
    sql`select status, count(*)::int as count from subscription where master_login = ${master} group by status`,
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

const total = ({ platform }: World, logins: readonly string[]): bigint =>
  logins.reduce((sum, login) => sum + balanceOf(platform.ledger, login), 0n);

test("all Investors leave in bounded steps, nothing is left on the Master, and the Master is archived", async () => {
  const { world, master, logins } = await withInvestors(20);
  world.fees.rules.debt = () => 10_00n;
  trader(world, master).result(777_77n);
  await settle(world);
  const [pooled, earlier] = [balanceOf(world.platform.ledger, master), total(world, logins)];
  expect(pooled).toBe(earlier);

  await close(world, master);
  expect(await closingOf(world, master)).toMatchObject({ state: ClosingState.CLOSING, investorsLeft: 20n });
  await runQueued(world.deps);
  expect(await statuses(world, master)).toMatchObject({ ACTIVE: 4 });
  expect(await closingOf(world, master)).toMatchObject({
    investorsLeft: 4n,
    exitsInProgress: 16n,
    blockedBy: undefined,
  });
  await expectBooksToReconcile(world);
  await untilArchived(world, master);

  expect(await statuses(world, master)).toEqual({ CANCELLED: 20 });
  expect(total(world, logins)).toBe(earlier - 20n * 10_00n);
  expect(balanceOf(world.platform.ledger, master)).toBe(0n);
  expect(logins.filter((login) => getAccount(world.platform.ledger, login).lockOwner !== undefined)).toEqual([]);
  await expectBooksToReconcile(world);
  const zero = { own_units: 0n, own_pooled_minor: 0n, own_carry_e8: 0n };
  expect(await many(world.deps.pool, sql`select own_units, own_pooled_minor, own_carry_e8 from master_pool`)).toEqual([
    zero,
  ]);
  const operations = await unassignsOf(world, master);
  expect(operations.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 20 }, () => OperationOutcome.EXECUTED));
  expect(new Set(operations.map(({ login }) => login))).toEqual(new Set(logins));
  for (const { operationId, createdAt, finishedAt, transferKeys } of operations) {
    expect(validate(operationId) && version(operationId)).toBe(7);
    expect([finishedAt, transferKeys.length]).toEqual([expect.any(Date), 1]);
    expect(Number.parseInt(operationId.replace("-", "").slice(0, 12), 16)).toBe(createdAt?.getTime());
  }
  const archived = await closingOf(world, master);
  expect(archived).toMatchObject({ investorsLeft: 0n, exitsInProgress: 0n, archivedAt: expect.any(Date) });
  await close(world, master);
  expect(await closingOf(world, master)).toEqual(archived);
});

test("Investors whose accounts the broker has archived leave with 0.00, also when their Master is closed", async () => {
  const world = await aWorld();
  const master = aMaster(world, 0n);
  const emptied = [anInvestor(world), anInvestor(world)];
  const other = anInvestor(world, 300_00n);
  for (const investorLogin of [...emptied, other]) {
    await world.service.assign(anAssignment({ masterLogin: master, investorLogin }), aCall());
  }
  await settle(world);
  const [first = "", second = ""] = emptied;
  for (const login of emptied) world.platform.ledger.archived.add(login);

  const pair = { masterLogin: master, investorLogin: first, queueForMs: undefined };
  expect(await world.service.unassign(pair, aCall())).toMatchObject({
    subscription: { status: SubscriptionStatus.CANCELLED },
    amount: { minorUnits: 0n },
    payoutEnqueued: false,
  });
  await expect(world.service.assign(anAssignment(pair), aCall())).rejects.toMatchObject({ code: "account_archived" });
  const { refusals } = await world.service.previewAssign(anAssignment(pair), aCall());
  expect(refusals.map(({ code }) => code)).toEqual(["account_archived"]);
  await close(world, master);
  await untilArchived(world, master);
  expect(await statuses(world, master)).toEqual({ ABORTED: 1, CANCELLED: 3 });
  expect(balances(world, other, second)).toEqual([300_00n, 0n]);
  await expectBooksToReconcile(world);

  const gone = aMaster(world, 0n);
  world.platform.ledger.archived.add(gone);
  const late = anAssignment({ masterLogin: gone, investorLogin: other });
  await expect(world.service.assign(late, aCall())).rejects.toMatchObject({
    code: "account_archived",
    details: { mt5_login: gone },
  });
});

test("an unassign that its client has queued takes the Investor out; when it is cancelled or expires, the closing does", async () => {
  const { world, master, logins } = await withInvestors(3);
  const position = trader(world, master).open();
  await settle(world);
  const [cancelled, expiring] = [aCall(), aCall()];
  const request = (index: number, queueForMs: bigint) => ({
    masterLogin: master,
    investorLogin: logins[index] ?? "",
    queueForMs,
  });
  await world.service.unassign(request(0, 2_000_000n), cancelled);
  await world.service.unassign(request(1, 1_000n), expiring);
  await beginClosing(world.deps.pool, master, world.deps.now());
  await settle(world);
  await world.service.cancelOperation({ operationId: cancelled.commandId }, aCall());
  await settleLater(world);
  const waiting = await unassignsOf(world, master, OperationOutcome.PENDING);
  expect(new Set(waiting.map(({ login }) => login))).toEqual(new Set(logins));
  // No caller sees that they wait, cancels one, or is kept from queueing its own.
  expect(waiting.map(({ queueState, queuedUntil }) => [queueState, queuedUntil])).toEqual(
    Array(3).fill([undefined, undefined]),
  );
  await expect(
    world.service.cancelOperation({ operationId: waiting[0]?.operationId ?? "" }, aCall()),
  ).rejects.toMatchObject({ code: "operation_not_cancellable" });
  expect(await readQueue(world.deps.pool, "EXIT")).toMatchObject({ waiting: 0 });
  const own = aCall();
  await world.service.unassign(request(2, 2_000_000n), own);
  trader(world, master).close(position);
  await untilArchived(world, master);
  const ends = await unassignsOf(world, master);
  expect(ends.filter(({ outcome }) => outcome === OperationOutcome.EXECUTED)).toHaveLength(3);
  expect(ends.filter(({ outcome }) => outcome === OperationOutcome.PENDING)).toEqual([]);
  const noted = (await statesOf(world.deps.pool, STATES_FEED)).filter(({ kind }) => kind === "unassign");
  expect(new Set(noted.map(({ operationId }) => operationId))).toEqual(
    new Set([cancelled, expiring, own].map(({ commandId }) => commandId)),
  );
});

test("Investors who wait for something of their own, or have left the pool, let the next ones be queued, all others do not", async () => {
  const { world, master } = await withInvestors(5);
  const { pool } = world.deps;
  const closing = { masterLogin: master, requestedAt: new Date() };
  await beginClosing(pool, master, closing.requestedAt);
  const queue = async (reason: string) => {
    await execute(pool, sql`update departure set reason = ${reason}`);
    const { blockedBy } = (await closingOf(world, master)) ?? {};
    const replica = () => queueLeavers(pool, closing, [uuidv7(), uuidv7()]);
    await Promise.all([replica(), replica()]);
    const rows = await many(pool, sql`select from departure`);
    return [blockedBy, rows.length];
  };
  expect(await queue("")).toEqual([undefined, 2]);
  expect(await queue("master_open_positions")).toEqual(["master_open_positions", 2]);
  expect(await queue("investor_deficit")).toEqual(["investor_deficit", 4]);
  const left = sql`update subscription set status = 'PAUSED' where id in (select subscription_id from departure)`;
  await execute(pool, left);
  expect(await queue("outcome_unknown")).toEqual([undefined, 5]);
});

test("a Master without Investors is archived at once", async () => {
  const world = await aWorld();
  const master = aMaster(world);
  await close(world, master);
  await runQueued(world.deps);
  expect(await closingOf(world, master)).toMatchObject({ state: ClosingState.ARCHIVED });
  expect(await readClosings(world.deps.pool)).toEqual({ count: 0, seconds: 0 });
});

test("open positions, a stop, a stop of the fees and an unreachable service refuse a closing, and nothing begins", async () => {
  const { world, master } = await withInvestors(1);
  const { deps, fees, platform } = world;
  const position = trader(world, master).open();
  await expect(close(world, master)).rejects.toMatchObject({
    code: "master_open_positions",
    outcome: "not_executed",
    details: { open_positions: "1" },
  });
  trader(world, master).close(position);
  await settle(world);
  fees.rules.isDown = true;
  await expect(close(world, master)).rejects.toMatchObject({ code: "service_unavailable", outcome: "not_executed" });
  fees.rules.isDown = false;
  vi.spyOn(platform.client, "readAccount").mockRejectedValueOnce(
    Object.assign(new Error("away"), { code: "no refusal" }),
  );
  await expect(close(world, master)).rejects.toThrow("away");
  await inTransaction(deps.pool, async (tx) => {
    await lockMaster(tx, master);
    await stopMaster(tx, master, "a test");
  });
  await expect(close(world, master)).rejects.toMatchObject({ code: "safety_stop", outcome: "not_executed" });
  expect(await closingOf(world, master)).toBeUndefined();
  expect(await statuses(world, master)).toEqual({ ACTIVE: 1 });
});

test("a position that is opened in the middle makes the rest wait, and those who have left are out", async () => {
  const { world, master } = await withInvestors(18);
  await close(world, master);
  await runQueued(world.deps);
  const position = trader(world, master).open();
  await settle(world);
  await passTime(world, PAUSE_MS);
  await settle(world);
  expect(await closingOf(world, master)).toMatchObject({
    state: ClosingState.CLOSING,
    investorsLeft: 2n,
    exitsInProgress: 0n,
    blockedBy: "master_open_positions",
  });
  const { count, seconds } = await readClosings(world.deps.pool);
  expect([count, seconds >= 0]).toEqual([1, true]);
  trader(world, master).close(position, { profit: 5_00n });
  await untilArchived(world, master);
  expect(await statuses(world, master)).toEqual({ CANCELLED: 18 });
  expect(balanceOf(world.platform.ledger, master)).toBe(0n);
  await expectBooksToReconcile(world);
});

test("an Investor whose account is locked delays no other, and leaves when it is free", async () => {
  const { world, master, logins } = await withInvestors(3);
  const lock = { login: logins[1] ?? "", lockOwner: "funding:withdrawal:1:1" };
  await world.platform.client.hold({ ...lock, withdrawal: undefined }, aCall());
  await close(world, master);
  await settle(world);
  expect(await statuses(world, master)).toEqual({ ACTIVE: 1, CANCELLED: 2 });
  const outcomes = async () => (await unassignsOf(world, master)).map(({ outcome }) => outcome).toSorted();
  // Its try was refused, and the closing tries again, however long it takes.
  const { PENDING, EXECUTED } = OperationOutcome;
  await passTime(world, PAUSE_MS);
  expect(await outcomes()).toEqual([PENDING, EXECUTED, EXECUTED]);
  await world.platform.client.release(lock, aCall());
  await untilArchived(world, master);
  expect(await statuses(world, master)).toEqual({ CANCELLED: 3 });
  expect(await outcomes()).toEqual([EXECUTED, EXECUTED, EXECUTED]);
});

test("assignments are refused from the closing on; one that was recorded before is finished, and its Investor leaves", async () => {
  const { world, master } = await withInvestors(1);
  const assign = (service: World["service"]) =>
    service.assign(anAssignment({ masterLogin: master, investorLogin: anInvestor(world, 500_00n) }), aCall());
  const { hold } = world.platform.client;
  vi.spyOn(world.platform.client, "hold").mockImplementationOnce(async (...call) => {
    await close(world, master);
    return await hold(...call);
  });
  expect(await assign(world.service)).toMatchObject({ subscription: { masterLogin: master } });
  await expect(assign(world.service)).rejects.toMatchObject({
    code: "master_not_accepting",
    details: { state: "closing" },
  });
  await untilArchived(world, master);
  expect(await statuses(world, master)).toEqual({ CANCELLED: 2 });
  await expect(assign(world.service)).rejects.toMatchObject({ details: { state: "archived" } });
});

test("an assignment that has not seen the closing is refused after it has recorded its saga", async () => {
  const world = await aWorld();
  const [master, investorLogin] = [aMaster(world), anInvestor(world, 500_00n)];
  const { findInvestor } = world.accounts.client;
  vi.spyOn(world.accounts.client, "findInvestor").mockImplementationOnce(
    async (...call) => await findInvestor(...call),
  );
  const query = world.deps.pool.query.bind(world.deps.pool) as (statement: unknown) => Promise<unknown>;
  let isClosed = false;
  // The first question whether the Master is closing is answered before the closing is recorded.
  const answering = async (statement: unknown): Promise<unknown> => {
    const answer = await query(statement);
    if (!isClosed && (statement as { text?: string }).text?.includes("closing_at") === true) {
      isClosed = true;
      await query(`insert into master_pool (login, closing_at) values ('${master}', now())`);
    }
    return answer;
  };
  vi.spyOn(world.deps.pool, "query").mockImplementation((statement: unknown): unknown => answering(statement));
  await expect(
    world.service.assign(anAssignment({ masterLogin: master, investorLogin }), aCall()),
  ).rejects.toMatchObject({ code: "master_not_accepting", details: { state: "closing" } });
  vi.restoreAllMocks();
  expect(await statuses(world, master)).toEqual({ ABORTED: 1 });
  expect(getAccount(world.platform.ledger, investorLogin).lockOwner).toBeUndefined();
});

test("a fee that waits for an archived payment account is a wait of the proof, and keeps a Master from being archived", async () => {
  const { world, master, logins } = await withInvestors(1);
  const [login = ""] = logins;
  world.fees.rules.debt = () => 30_00n;
  world.fees.rules.archivedPaymentAccount = "7001";
  const waitsOf = async () =>
    (await world.service.getProof({ masterLogin: master, afterSubscriptionId: 0n, limit: 1 }, aCall())).waits;
  await close(world, master);
  await settleLater(world);
  expect(await closingOf(world, master)).toMatchObject({
    investorsLeft: 0n,
    exitsInProgress: 1n,
    blockedBy: "payment_account_archived",
  });
  expect((await unassignsOf(world, master))[0]).toMatchObject({
    outcome: OperationOutcome.EXECUTED,
    finishedAt: expect.any(Date),
  });
  expect(await waitsOf()).toEqual([
    {
      reason: MarketWaitReason.PAYMENT_ACCOUNT_ARCHIVED,
      amount: moneyToProto(usd(30_00n)),
      since: expect.any(Date),
      message: expect.stringMatching(
        /^30\.00 USD of fees is paid when .* payment account 7001 again, .*payment_account_login of Master/,
      ),
    },
  ]);

  world.fees.rules.archivedPaymentAccount = "";
  const [key = ""] = world.fees.recorded.keys();
  enter(world.platform.ledger, login, { kind: MovementKind.FEE_DEBIT, amount: -30_00n, key: debtKey(login, key) });
  await settle(world);
  expect(await waitsOf()).toEqual([]);
  await passTime(world, PAUSE_MS);
  await untilArchived(world, master);
  expect(balanceOf(world.platform.ledger, login)).toBe(970_00n);
  await expectBooksToReconcile(world);
});

test("own capital keeps a Master from being archived until operators have acknowledged it", async () => {
  const world = await aWorld();
  const master = aMaster(world, 100_00n, 5_000_00n);
  await subscribed(world, master, 1_000_00n);
  await close(world, master);
  await settleLater(world);
  expect(await closingOf(world, master)).toMatchObject({
    investorsLeft: 0n,
    exitsInProgress: 0n,
    blockedBy: "own_capital",
  });
  await inTransaction(world.deps.pool, async (tx) => {
    await lockMaster(tx, master);
    await acknowledgeExternal(tx, master, 5_000_00n);
  });
  await passTime(world, PAUSE_MS);
  await untilArchived(world, master);
  expect(balanceOf(world.platform.ledger, master)).toBe(5_000_00n);
});

test("a closing that crashes at any point is finished: each Investor leaves once", async () => {
  const world = await aWorld();
  const cases = await crashAtEveryPoint(world, {
    prepare: async (count) => {
      const prepared = [];
      for (let index = 0; index < count; index += 1) prepared.push(await withInvestors(1, world));
      return prepared;
    },
    run: async (deps: Deps, { master }) => {
      // The job would go on with the closing of an earlier crash.
      await settleLater(world);
      await close({ service: subscriptionService(deps) }, master);
      await runQueued(deps);
    },
  });
  for (const { master, logins } of cases) {
    // The crash may have come before the closing was recorded.
    await close(world, master);
    await untilArchived(world, master);
    expect(await statuses(world, master)).toEqual({ CANCELLED: 1 });
    expect([balanceOf(world.platform.ledger, master), total(world, logins)]).toEqual([0n, 1_000_00n]);
  }
  await expectBooksToReconcile(world);
});
