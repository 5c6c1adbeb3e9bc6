import { expect, test } from "vitest";
import { corrupt } from "#test/support/corrupt.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#kernel/values/duration.ts";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { PermitState, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { heartbeat } from "../jobs/heartbeat.ts";
import type { PermitGate } from "../domain/permit-gate.ts";
import type { Period } from "../mt5/deals.ts";
import { AccountReader } from "../reader/account-reader.ts";
import { readAgainFrom } from "../store/accounts.ts";
import { readGeneration } from "../store/permit-gate.ts";
import { moveReadTo } from "../store/reader-cursor.ts";
import { listRecovered } from "../store/recovery.ts";
import { readLogin } from "./history/read-history.ts";
import {
  approveResume,
  decideBoth,
  openReviews,
  resumeBoth,
  reviewOf,
  runRequiredChecks,
  vote,
} from "../testing/reviews.ts";
import { aDeposit, aTransfer, aWithdrawal, moneyOf, commentOf } from "../testing/requests.ts";
import { aCall, anAccount, aWorld, eventually, type Instance, aProcess, aProcessWith } from "../testing/world.ts";
import { onlyReader } from "../testing/reader-role.ts";
import { aWaitingLeg } from "../testing/rows.ts";
import { transferThatIs } from "../testing/recorded-transfer.ts";

async function gateOf(deps: Deps): Promise<PermitGate> {
  await heartbeat(deps);
  return deps.gate.read();
}

/** As if the server had been started again since the history was read. */
async function restartDatabase({ deps }: Instance): Promise<void> {
  await deps.pool.query(
    "update permit_gate set database = regexp_replace(database, '^([^/]+/[^/]+)/[^/]+', '\\1/the start before')",
  );
}

/** As if a standby had taken over since. */
async function promoteStandby({ deps }: Instance): Promise<void> {
  await deps.pool.query("update permit_gate set database = regexp_replace(database, '/[^/]+', '/00000000')");
}

test.concurrent("after a restart of the database nothing is sent before the history was read", async (context) => {
  const world = await aWorld(context);
  const before = await world.start({ hasJobs: false });
  const login = await anAccount(before);
  await aWaitingLeg(before.deps.pool, { key: "queued", login, amountMinor: 5_00n });
  await restartDatabase(before);
  const instance = await world.start({ hasJobs: false, isHistoryRead: false });
  const order = (key: string) => aTransfer(key, [{ login, kind: MovementKind.DEPOSIT, minor: 5_00n }]);

  for (const request of [order("now"), { ...order("later"), enqueue: true }]) {
    await expect(instance.service.transfer(request, aCall())).rejects.toMatchObject({
      code: "platform_unavailable",
      outcome: "not_executed",
      message: expect.stringContaining("history") as string,
    });
    // This process does not know it yet; the database refuses the permit, and that the order waits for one.
    await expect(before.service.transfer(request, aCall())).rejects.toMatchObject({ code: "service_unavailable" });
  }
  expect(await many(instance.deps.pool, sql`select number from attempt`)).toEqual([]);

  const reading = await world.start({ isHistoryRead: false });
  const { state } = await transferThatIs(TransferState.APPLIED, reading.service, "queued");
  expect(state).toBe(TransferState.APPLIED);
  expect(await world.control.deals(login)).toHaveLength(1);
});

const LOST = commentOf("deposit", 77n, "lost");

test.concurrent("a deal whose leg the database does not have stops all permits until two operators resume", async (context) => {
  const world = await aWorld(context);
  const before = await world.start();
  const login = await anAccount(before);
  const other = await anAccount(before);
  await world.control.balance(login, "8.00", LOST);
  const review = await reviewOf(before, "database_behind");
  expect(review).toMatchObject({ login, actions: ["resume"], amount: { minorUnits: 8_00n } });
  expect(LOST.startsWith(review.reference)).toBe(true);
  await before[Symbol.asyncDispose]();

  // The stop outlasts every process.
  const instance = await world.start({ isHistoryRead: false });
  const stopped = { code: "safety_stop", outcome: "not_executed" };
  await expect(instance.service.transfer(aDeposit(other, 5_00n), aCall())).rejects.toMatchObject(stopped);
  const queued = aDeposit(other, 6_00n, { enqueue: true });
  await expect(instance.service.transfer(queued, aCall())).rejects.toMatchObject(stopped);
  await vote(instance, review, "key-of-ann", { action: "resume" });
  await expect(vote(instance, review, "key-of-ann", { action: "resume" })).rejects.toMatchObject({
    code: "second_approver_required",
  });
  await heartbeat(instance.deps);
  await expect(instance.service.transfer(aDeposit(other, 5_00n), aCall())).rejects.toMatchObject(stopped);
  expect(await world.control.deals(other)).toEqual([]);

  await approveResume(instance, review);
  expect(await instance.service.transfer(aDeposit(other, 5_00n), aCall())).toMatchObject({
    state: TransferState.APPLIED,
  });
  expect(await world.control.deals(other)).toHaveLength(1);
  expect(await openReviews(instance)).toEqual([]);
});

test.concurrent("a day before the last reading is read again before the gate opens", async (context) => {
  const world = await aWorld(context);
  const before = await world.start({ hasJobs: false });
  await anAccount(before);
  const readTo = new Date(Date.now() - 2 * HOUR_MS);
  await moveReadTo(before.deps.pool, readTo);
  await restartDatabase(before);
  const { deps } = await world.start({ hasJobs: false, isHistoryRead: false });
  const periods: Period[] = [];
  const mt5 = {
    ...deps.mt5,
    findGroupDeals(...[group, period, selection]: Parameters<typeof deps.mt5.findGroupDeals>) {
      periods.push(period);
      return deps.mt5.findGroupDeals(group, period, selection);
    },
  };
  const reader = new AccountReader({ ...deps, mt5 }, onlyReader);

  while (await reader.read({ backMs: 0, findsDeleted: false })) expect(await gateOf(deps)).toBe("reading");

  expect(await gateOf(deps)).toBe("open");
  expect(periods[0]?.from).toEqual(new Date(readTo.getTime() - 24 * HOUR_MS));
  for (const [index, { from }] of periods.slice(1).entries()) expect(from <= periods[index]!.to).toBe(true);
  expect(periods.at(-1)!.to.getTime()).toBeGreaterThan(Date.now());
});

test.concurrent("after a failover the gate stays closed for a quiet period, because a lost command may still be executed", async (context) => {
  const world = await aWorld(context);
  const before = await world.start({ hasJobs: false });
  const login = await anAccount(before);
  await promoteStandby(before);
  const quietPeriodMs = 1_500;
  const { deps } = await world.start({ hasJobs: false, isHistoryRead: false, quietPeriodMs });
  const reader = new AccountReader(deps, onlyReader);
  const read = (): Promise<boolean> => reader.read({ backMs: 10_000, findsDeleted: false });
  const fromMs = performance.now();
  while (await read()) expect(await gateOf(deps)).toBe("reading");
  expect(await gateOf(deps)).toBe("reading");

  await world.control.balance(login, "8.00", LOST);
  await eventually(
    async () => {
      await read();
      return await gateOf(deps);
    },
    (gate) => gate !== "reading",
  );

  expect(await gateOf(deps)).toBe("stopped");
  await eventually(
    async () => {
      await read();
      return await many(deps.pool, sql`select from permit_gate where database = database_identity()`);
    },
    (rows) => rows.length === 1,
  );
  expect(performance.now() - fromMs).toBeGreaterThan(quietPeriodMs);
});

test.concurrent("a generation of the books ends with their database, and not with a restart of it", async (context) => {
  const world = await aWorld(context);
  const before = await world.start({ hasJobs: false });
  const generationAfter = async (change: (instance: Instance) => Promise<void>): Promise<bigint> => {
    await change(before);
    const { deps } = await world.start({ hasJobs: false, isHistoryRead: false, quietPeriodMs: 1 });
    const reader = new AccountReader(deps, onlyReader);
    await eventually(
      async () => {
        await reader.read({ backMs: 10_000, findsDeleted: false });
        return await gateOf(deps);
      },
      (gate) => gate === "open",
    );
    return await readGeneration(deps.pool);
  };

  expect(await generationAfter(restartDatabase)).toBe(1n);
  expect(await generationAfter(promoteStandby)).toBe(2n);
});

test.concurrent("operators cannot resume while the balances do not equal the logs, or have not been compared since the stop", async (context) => {
  const { world, instance } = await aProcess(context);
  const { pool } = instance.deps;
  const login = await anAccount(instance);
  const other = await anAccount(instance);
  await instance.service.transfer(aDeposit(other, 50_00n), aCall());
  await runRequiredChecks(instance);
  await world.control.balance(login, "8.00", LOST);
  const review = await reviewOf(instance, "database_behind");
  const resume = (actor: string) => vote(instance, review, actor, { action: "resume" });
  await resume("key-of-ann");
  await eventually(
    () => resume("key-of-bob").catch((error: Error) => error.message),
    (message) => typeof message === "string" && message.startsWith("The service subscription has not recorded"),
  );
  await expect(resume("key-of-bob")).rejects.toMatchObject({
    code: "action_not_possible",
    message: expect.stringMatching(
      /^The service subscription has not .* The check deal_matching has not .* The check platform_balance has not .*ops.breaks/,
    ),
  });

  // As after a restore that has lost a deal of this service for good: the platform shows money that no log has.
  const asOther = (minor: bigint) => sql`update account set log_minor = log_minor + ${minor} where login = ${other}`;
  await execute(pool, asOther(-1n));
  for (const state of ["not confirmed yet", "open"]) {
    await runRequiredChecks(instance);
    await expect(resume("key-of-bob"), state).rejects.toMatchObject({
      code: "action_not_possible",
      message: expect.stringContaining(
        `The check platform_balance has 1 break (${other}). Read GET /api/v1/ops/breaks`,
      ),
    });
  }
  expect(await gateOf(instance.deps)).toBe("stopped");

  await execute(pool, asOther(1n));
  await runRequiredChecks(instance);
  await resume("key-of-bob");
  expect(await gateOf(instance.deps)).toBe("open");
});

test.concurrent("what keeps operators from resuming is listed, all at once, with what was imported", async (context) => {
  const { world, instance } = await aProcess(context, { quietPeriodMs: 600_000 });
  const permits = () => instance.service.getPermits({}, aCall());
  const [login, other] = [await anAccount(instance), await anAccount(instance)];
  expect(await permits()).toEqual({
    state: PermitState.GRANTED,
    stoppedAt: undefined,
    resumableFrom: undefined,
    blocking: [],
    imports: undefined,
    generation: 1n,
    importComplete: false,
  });
  await world.control.balance(login, "8.00", LOST);
  await reviewOf(instance, "database_behind");
  const stopped = await eventually(permits, ({ imports }) => imports?.openMovements === 0);
  expect(stopped).toMatchObject({ state: PermitState.STOPPED, imports: { movements: 1, unclaimedFees: 0 } });
  expect(stopped).toMatchObject({ generation: 2n, importComplete: false });
  expect(stopped.resumableFrom?.getTime()).toBe((stopped.stoppedAt?.getTime() ?? 0) + 600_000);
  expect(stopped.blocking.map(({ code }) => code)).toEqual([
    "quiet_period",
    "owner_not_recovered",
    "owner_not_recovered",
    "check_not_complete",
    "check_not_complete",
  ]);

  await execute(instance.deps.pool, sql`update account set log_minor = log_minor - 1 where login = ${other}`);
  await instance.deps.pool.query("update permit_gate set stopped_at = now() - interval '601 seconds'");
  await runRequiredChecks(instance);
  const later = await permits();
  expect(later.importComplete).toBe(true);
  expect(later.blocking).toEqual([
    { code: "check_has_breaks", detail: `The check platform_balance has 1 break (${other}).` },
  ]);

  await execute(instance.deps.pool, sql`update account set log_minor = log_minor + 1 where login = ${other}`);
  await execute(instance.deps.pool, sql`update permit_gate set database = 'another'`);
  await runRequiredChecks(instance);
  const unread = await permits();
  expect(unread.blocking.map(({ code }) => code)).toEqual(["history_not_read"]);
  expect(unread.importComplete).toBe(false);
  await execute(instance.deps.pool, sql`update permit_gate set stopped_at = null`);
  expect((await permits()).state).toBe(PermitState.READING);
});

test.concurrent("accounts whose deals are not all in their logs are counted while permits are stopped, and awaited for two quiet periods", async (context) => {
  const { service, deps, login } = await aProcessWith("investor", context, {
    hasJobs: false,
    quietPeriodMs: 40 * MINUTE_MS,
  });
  await readAgainFrom(deps.pool, login, new Date());
  await deps.pool.query("update permit_gate set stopped_at = now() - interval '1 hour'");
  const permits = await service.getPermits({}, aCall());
  expect(permits.imports).toEqual({ movements: 0, openMovements: 0, unclaimedFees: 0, accountsToRead: 1 });
  expect(permits.importComplete).toBe(false);
  await deps.pool.query("update permit_gate set stopped_at = now() - interval '81 minutes'");
  expect((await service.getPermits({}, aCall())).importComplete).toBe(true);
});

test.concurrent("a deal that is imported begins another generation: a service that has reported before has to repeat its step", async (context) => {
  const { world, instance, service, deps, login } = await aProcessWith("investor", context);
  const generationOf = async (): Promise<bigint> => (await service.getPermits({}, aCall())).generation;
  const report = (generation: bigint) => service.reportRecovered({ service: "subscription", generation }, aCall());
  await world.control.balance(login, "8.00", LOST);
  await reviewOf(instance, "database_behind");
  const first = await generationOf();

  for (let times = 1; times <= 2; times += 1) expect(await report(first)).toEqual({});
  expect(await listRecovered(deps.pool, first)).toEqual(["subscription"]);
  await world.control.balance(login, "9.00", commentOf("deposit", 78n));
  const second = await eventually(generationOf, (generation) => generation > first);

  await expect(report(first)).rejects.toMatchObject({ code: "outdated" });
  expect(await listRecovered(deps.pool, second)).toEqual([]);
  await expect(service.reportRecovered({ service: "another", generation: second }, aCall())).rejects.toMatchObject({
    code: "validation_failed",
  });
});

test.concurrent("operators cannot resume before they have decided about the deals that could not be imported", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context);
  await world.control.balance(login, "8.00", commentOf("reversal", 79n));
  const behind = await reviewOf(instance, "database_behind");
  const review = await reviewOf(instance, "unknown_reference");
  await vote(instance, behind, "key-of-ann", { action: "resume" });
  await eventually(
    () =>
      runRequiredChecks(instance)
        .then(() => vote(instance, behind, "key-of-bob", { action: "resume" }))
        .catch((error: Error) => error.message),
    (message) =>
      typeof message === "string" &&
      message.startsWith(
        `Reviews of deals that were found since the stop are not decided: platform-${review.id}. The check deal_matching has 1 break`,
      ),
  );
  const { blocking } = await instance.service.getPermits({}, aCall());
  expect(blocking.map(({ code }) => code)).toEqual(["review_open", "check_has_breaks"]);

  await decideBoth(instance, review, { action: "acknowledge" });
  await approveResume(instance, behind);
  expect(await gateOf(instance.deps)).toBe("open");
});

test.concurrent("while deals of an account cannot be filed, no deposit is accepted on it, because one of them may be the same", async (context) => {
  const { world, service, deps, login } = await aProcessWith("investor", context, { hasJobs: false });
  const deposit = (minor: bigint) => service.transfer(aDeposit(login, minor), aCall());
  const unfiledSince = (secondsAgo: number) =>
    readAgainFrom(deps.pool, login, new Date(Date.now() - secondsAgo * SECOND_MS));

  // The deal of a leg that was just decided is filed in a moment.
  await unfiledSince(2);
  expect(await deposit(1_00n)).toMatchObject({ state: TransferState.APPLIED });
  await unfiledSince(60);
  await expect(deposit(2_00n)).rejects.toMatchObject({
    code: "account_busy",
    outcome: "not_executed",
    message: `The history of account ${login} cannot be read completely on the trading platform at the moment, and is read again by itself. Nothing was executed. Send the request again in a second; operators find what lasts longer in the breaks of the account.`,
  });
  expect(await world.control.deals(login)).toHaveLength(1);

  await readLogin(deps, login);
  expect(await deposit(3_00n)).toMatchObject({ state: TransferState.APPLIED });
});

test.concurrent("when operators resume, an account whose deals are not all in its log waits until they are", async (context) => {
  const { world, instance, service, deps } = await aProcess(context, { hasJobs: false });
  const [login, other] = [await anAccount(instance), await anAccount(instance)];
  await world.control.balance(login, "8.00", LOST);
  await readLogin(deps, login);
  await readAgainFrom(deps.pool, other, new Date());
  await resume(instance);

  await expect(service.transfer(aDeposit(other, 5_00n), aCall())).rejects.toMatchObject({
    code: "account_busy",
    details: { login: other },
  });
  await readLogin(deps, other);
  expect(await service.transfer(aDeposit(other, 5_00n), aCall())).toMatchObject({ state: TransferState.APPLIED });
});

test.concurrent("a deposit that equals a lost one is refused with its ticket for 30 days, and another one is executed", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context);
  await world.control.balance(login, "8.00", LOST);
  const dealId = await resume(instance);
  const repeated = (own: { comment: string }) => instance.service.transfer(aDeposit(login, 8_00n, own), aCall());
  const refused = { code: "possible_duplicate", outcome: "not_executed", details: { deal_id: String(dealId) } };

  await expect(repeated({ comment: "lost" })).rejects.toMatchObject(refused);
  await expect(repeated({ comment: "lost" })).rejects.toMatchObject(refused);
  expect(await repeated({ comment: "another" })).toMatchObject({ state: TransferState.APPLIED });
  await corrupt(instance.deps.pool, "update lost_movement set found_at = found_at - interval '30 days'");
  expect(await repeated({ comment: "lost" })).toMatchObject({ state: TransferState.APPLIED });
});

const LOST_WITHDRAWAL = commentOf("withdrawal", 78n, "lost");

test.concurrent("a withdrawal that equals a lost one gets no account lock", async (context) => {
  const { world, instance, service, login } = await aProcessWith("investor", context);
  await service.transfer(aDeposit(login, 50_00n), aCall());
  await world.control.balance(login, "-8.00", LOST_WITHDRAWAL);
  const dealId = await resume(instance);
  const hold = (lockOwner: string, minor: bigint) =>
    service.hold({ login, lockOwner, withdrawal: { amount: moneyOf(minor), comment: "lost" } }, aCall());

  await expect(hold("first", 8_00n)).rejects.toMatchObject({
    code: "possible_duplicate",
    details: { deal_id: String(dealId) },
  });
  expect(await hold("second", 9_00n)).toMatchObject({ balance: { minorUnits: 42_00n } });
  // A restored saga that had its lock already.
  const payout = aWithdrawal(login, 8_00n, { lockOwner: "second", comment: "lost" });
  await expect(service.transfer(payout, aCall())).rejects.toMatchObject({ code: "possible_duplicate" });
  await service.release({ login, lockOwner: "second" }, aCall());
  // A saga without a withdrawal, such as an unassign.
  expect(await service.hold({ login, lockOwner: "third" }, aCall())).toMatchObject({ openPositions: 0 });
});

/** Two operators resume after a lost deal; returns its ticket. */
async function resume(instance: Instance): Promise<bigint> {
  return (await resumeBoth(instance)).dealId;
}
