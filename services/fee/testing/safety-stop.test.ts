import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { collect } from "../commands/collect.ts";
import { prepare } from "../commands/crystallise.ts";
import { payFees } from "../jobs/pay-fees.ts";
import { readAllocations } from "../jobs/read-allocations.ts";
import { aCall, INVESTOR, MASTER, OTHER_MASTER, OTHER_PAYMENT_ACCOUNT, PAYMENT_ACCOUNT } from "./fee.ts";
import { collectAll, decideLeave } from "./leaving.ts";
import { aPaymentBreak, detectBreaks, resume, reviewsOf } from "./safety.ts";
import {
  anInvestor,
  aWorld,
  balanceOf,
  debtsOf,
  endWeek,
  expectToReconcile,
  receive,
  paymentsOf,
  result,
  runsOf,
  settle,
  passTime,
  type World,
} from "./world.ts";

const KEY = "funding:withdrawal:1";

async function stop(world: World, login = PAYMENT_ACCOUNT): Promise<void> {
  world.platform.breaks.push(aPaymentBreak(BigInt(world.platform.breaks.length + 1), { login }));
  await detectBreaks(world.deps);
}

async function resumeAndSettle(world: World): Promise<void> {
  for (const { id } of await reviewsOf(world)) await resume(world, id);
  await passTime(world);
  await settle(world);
}

/** A closed week of two Masters with one Investor each; the fees are decided, and nothing was sent. */
async function aDueWeek(): Promise<World> {
  const world = await aWorld();
  await anInvestor(world, { login: "9001", deposit: "1000.00" });
  await anInvestor(world, { login: "9002", deposit: "1000.00" });
  result(world, { 9001: "+100.00" });
  endWeek(world, { 9001: "0.00" });
  await receive(world);
  await readAllocations(world.deps);
  // Read after the first week, so that the first payment is to the first Master.
  world.week -= 1;
  result(world, { 9002: "+100.00" }, OTHER_MASTER);
  endWeek(world, { 9002: "0.00" }, OTHER_MASTER);
  await receive(world);
  await readAllocations(world.deps);
  return world;
}

async function aWorldWithPendingFee(): Promise<World> {
  const world = await aWorld();
  await anInvestor(world, { deposit: "10000.00" });
  result(world, { [INVESTOR]: "+2000.00" });
  await decideLeave(world);
  return world;
}

test("no week of a stopped Master is decided until it is resumed, and then all weeks in sequence", async () => {
  const world = await aDueWeek();
  await settle(world);
  await stop(world);
  for (const master of [MASTER, OTHER_MASTER]) {
    result(world, { [master === MASTER ? "9001" : "9002"]: "+50.00" }, master);
    endWeek(world, { [master === MASTER ? "9001" : "9002"]: "0.00" }, master);
  }
  await settle(world);
  expect(await runsOf(world)).toHaveLength(3);
  // The job does not claim the stopped Master.
  const tries = sql`select tries from allocation_watermark where master_login = ${MASTER}`;
  expect(await many(world.deps.pool, tries)).toEqual([{ tries: 0 }]);
  expect([balanceOf(world, PAYMENT_ACCOUNT), balanceOf(world, OTHER_PAYMENT_ACCOUNT)]).toEqual(["30.00", "45.00"]);
  await resumeAndSettle(world);
  expect([balanceOf(world, PAYMENT_ACCOUNT), balanceOf(world, OTHER_PAYMENT_ACCOUNT)]).toEqual(["45.00", "45.00"]);
  await expectToReconcile(world);
});

test("a stop while a week is being read leaves the week undecided", async () => {
  const world = await aDueWeek();
  await settle(world);
  result(world, { 9001: "+50.00" });
  endWeek(world, { 9001: "0.00" });
  const { subscriptions } = world.deps;
  const readAllocationRows: typeof subscriptions.readAllocationRows = async (request, context) => {
    const rows = await subscriptions.readAllocationRows(request, context);
    await stop(world);
    return rows;
  };
  const deps = { ...world.deps, subscriptions: { ...subscriptions, readAllocationRows } };
  await expect(prepare(deps, { masterLogin: MASTER }, aCall())).rejects.toMatchObject({ code: "safety_stop" });
  expect(await runsOf(world)).toHaveLength(2);
  await resumeAndSettle(world);
  expect(await runsOf(world)).toHaveLength(3);
  await expectToReconcile(world);
});

test("a decided fee that was not sent waits for the resume of its Master and is paid once", async () => {
  const world = await aDueWeek();
  await stop(world);
  await settle(world);
  expect(await paymentsOf(world)).toMatchObject([
    { master: MASTER, status: "PENDING", paid: "0.00" },
    { master: OTHER_MASTER, status: "EXECUTED", paid: "30.00" },
  ]);
  await passTime(world);
  await settle(world);
  expect(Array.from(world.platform.byKey.keys(), (key) => key.split(":", 3).join(":"))).toEqual(["fee:9002:5002"]);
  await resumeAndSettle(world);
  expect(await paymentsOf(world)).toMatchObject([{ paid: "30.00" }, { paid: "30.00" }]);
  await expectToReconcile(world);
});

test("payments that were sent before the stop are completed", async () => {
  const world = await aDueWeek();
  world.platform.rules.losesAnswer = ({ legs }) => legs[0]?.login === "9001";
  world.platform.rules.delaysCredit = ({ legs }) => legs[0]?.login === "9002";
  await payFees(world.deps);
  expect(await paymentsOf(world)).toMatchObject([{ status: "EXECUTING" }, { status: "EXECUTING", paid: "30.00" }]);
  await stop(world);
  await stop(world, OTHER_PAYMENT_ACCOUNT);
  world.platform.finish("fee:9002:5002:W:2026-01-10T00:00:00.000Z");
  await passTime(world);
  await settle(world);
  expect(await paymentsOf(world)).toMatchObject([{ status: "EXECUTED" }, { status: "EXECUTED" }]);
  await expectToReconcile(world);
});

test("a claimed payment that did not reach the platform service is not sent while its Master is stopped", async () => {
  const world = await aDueWeek();
  world.platform.rules.isBusy = ({ legs }) => legs[0]?.login === "9001";
  await payFees(world.deps);
  world.platform.rules.isBusy = () => false;
  await stop(world);
  await passTime(world);
  await settle(world);
  expect(await paymentsOf(world)).toMatchObject([{ status: "EXECUTING", paid: "0.00" }, { status: "EXECUTED" }]);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("0.00");
  await resumeAndSettle(world);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("30.00");
});

test("an open payment to a stopped Master blocks no payments to other Masters and no exit from them", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  result(world, { [INVESTOR]: "+100.00" });
  endWeek(world, { [INVESTOR]: "0.00" });
  await receive(world);
  await readAllocations(world.deps);
  await stop(world);
  result(world, { [INVESTOR]: "+100.00" }, OTHER_MASTER);
  endWeek(world, { [INVESTOR]: "0.00" }, OTHER_MASTER);
  await settle(world);
  expect(await paymentsOf(world)).toMatchObject([{ status: "PENDING" }, { status: "EXECUTED", paid: "30.00" }]);
  result(world, { [INVESTOR]: "+10.00" }, OTHER_MASTER);
  const leave = { key: "exit:1", suffix: "UA1", masterLogin: OTHER_MASTER };
  expect(await decideLeave(world, leave)).toEqual({ pending: "3.00", items: [["fee:9001:5002:UA1", "3.00", false]] });
  expect(await collectAll(world, "exit:1")).toBe("3.00");
  await resumeAndSettle(world);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("30.00");
  await expectToReconcile(world);
});

test("a debt to a stopped Master is not collected, and other Masters are paid", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  world.platform.rules.refuse = () => "absent";
  result(world, { [INVESTOR]: "+100.00" });
  endWeek(world, { [INVESTOR]: "0.00" });
  await settle(world);
  world.platform.rules.refuse = () => undefined;
  await stop(world);
  result(world, { [INVESTOR]: "+100.00" }, OTHER_MASTER);
  endWeek(world, { [INVESTOR]: "0.00" }, OTHER_MASTER);
  await settle(world);
  expect(await debtsOf(world)).toEqual({ [`${INVESTOR}:${MASTER}`]: "30.00" });
  const outside = { key: "out", masterLogin: "", subscriptionId: 0n, periodStart: undefined };
  expect(await decideLeave(world, outside)).toEqual({ pending: "0.00", items: [] });
  expect(balanceOf(world, OTHER_PAYMENT_ACCOUNT)).toBe("30.00");
});

test("while a Master is stopped nothing is prepared or crystallised, and an earlier key gets the same answer", async () => {
  const world = await aWorldWithPendingFee();
  const decided = await decideLeave(world);
  await stop(world);
  const stopped = { code: "safety_stop", status: "unavailable", outcome: "not_executed" };
  await expect(prepare(world.deps, { masterLogin: MASTER }, aCall())).rejects.toMatchObject(stopped);
  await expect(decideLeave(world, { key: "exit:2", suffix: "UA2" })).rejects.toMatchObject(stopped);
  expect(await decideLeave(world)).toEqual(decided);
  expect(await runsOf(world)).toHaveLength(1);
  await resumeAndSettle(world);
  await expect(prepare(world.deps, { masterLogin: MASTER }, aCall())).resolves.toEqual({});
});

test("a crystallised fee that was not sent is collected by the same call after the Master is resumed", async () => {
  const world = await aWorldWithPendingFee();
  await stop(world);
  await expect(collectAll(world)).rejects.toMatchObject({ code: "safety_stop", outcome: "not_executed" });
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("0.00");
  await resumeAndSettle(world);
  expect(await collectAll(world)).toBe("600.00");
  expect(await collectAll(world)).toBe("600.00");
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("600.00");
});

test("a fee that was sent before the stop is completed by the same call", async () => {
  const world = await aWorldWithPendingFee();
  world.platform.rules.losesAnswer = () => true;
  await expect(collectAll(world)).rejects.toMatchObject({ code: "outcome_unknown" });
  world.platform.rules.losesAnswer = () => false;
  await stop(world);
  expect(await collectAll(world)).toBe("600.00");
  await expectToReconcile(world);
});

test("a stop after a part was collected is answered with an unknown outcome", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  world.platform.rules.refuse = () => "absent";
  result(world, { [INVESTOR]: "+100.00" }, OTHER_MASTER);
  endWeek(world, { [INVESTOR]: "0.00" }, OTHER_MASTER);
  await settle(world);
  world.platform.rules.refuse = () => undefined;
  result(world, { [INVESTOR]: "+10.00" });
  await decideLeave(world);
  await stop(world);
  const request = { key: KEY, lockOwner: `${KEY}:1` };
  world.platform.accountLocks.set(INVESTOR, request.lockOwner);
  await expect(collect(world.deps, request, aCall())).rejects.toMatchObject({
    code: "safety_stop",
    outcome: "unknown",
  });
  expect(balanceOf(world, OTHER_PAYMENT_ACCOUNT)).toBe("30.00");
  await resumeAndSettle(world);
  expect(await collectAll(world)).toBe("33.00");
  await expectToReconcile(world);
});
