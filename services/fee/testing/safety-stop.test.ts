import { expect, test } from "vitest";
import { payFees } from "../jobs/pay-fees.ts";
import { decideWeeks, requestOf } from "./deciding.ts";
import { INVESTOR, MASTER, OTHER_MASTER, OTHER_PAYMENT_ACCOUNT, PAYMENT_ACCOUNT } from "./fee.ts";
import { aLeave, collectAll, decideLeave } from "./leaving.ts";
import { aPaymentBreak, detectBreaks, resume, reviewsOf } from "./safety.ts";
import {
  anInvestor,
  aWeek,
  aWorld,
  balanceOf,
  debtsOf,
  expectToReconcile,
  paymentsOf,
  result,
  settle,
  passTime,
  type World,
} from "./world.ts";

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
  aWeek(world, { 9001: "+100.00" });
  await decideWeeks(world);
  // Read after the first week, so that the first payment is to the first Master.
  world.week -= 1;
  aWeek(world, { 9002: "+100.00" }, OTHER_MASTER);
  await decideWeeks(world);
  return world;
}

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
  aWeek(world, { [INVESTOR]: "+100.00" });
  await decideWeeks(world);
  await stop(world);
  aWeek(world, { [INVESTOR]: "+100.00" }, OTHER_MASTER);
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

test("a debt whose Master was stopped since it was decided is left out, and nothing else is", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  world.platform.rules.refuse = () => "absent";
  aWeek(world, { [INVESTOR]: "+100.00" });
  await settle(world);
  world.platform.rules.refuse = () => undefined;
  result(world, { [INVESTOR]: "+10.00" }, OTHER_MASTER);
  const request = await requestOf(world, world.deps, aLeave({ masterLogin: OTHER_MASTER }));
  await stop(world);
  expect(request?.investors[0]?.due).toHaveLength(2);
  expect(await decideLeave(world)).toEqual({ pending: "3.00", items: [["fee:9001:5002:WD1", "3.00", false]] });
  expect(await debtsOf(world)).toEqual({ [`${INVESTOR}:${MASTER}`]: "30.00" });
  expect(await collectAll(world)).toBe("3.00");
  await expectToReconcile(world);
});

test("while the fees of one Master are stopped, none of a withdrawal is debited", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  world.platform.rules.refuse = () => "absent";
  aWeek(world, { [INVESTOR]: "+100.00" }, OTHER_MASTER);
  await settle(world);
  world.platform.rules.refuse = () => undefined;
  result(world, { [INVESTOR]: "+10.00" });
  await decideLeave(world);
  await stop(world);
  await expect(collectAll(world)).rejects.toMatchObject({ code: "safety_stop", outcome: "unknown" });
  expect(balanceOf(world, OTHER_PAYMENT_ACCOUNT)).toBe("0.00");
  await resumeAndSettle(world);
  expect(await collectAll(world)).toBe("33.00");
  await expectToReconcile(world);
});
