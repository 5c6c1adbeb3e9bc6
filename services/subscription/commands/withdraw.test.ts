import { expect, test } from "vitest";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { WithdrawalState } from "#proto/pamm/subscription/v1/subscription.ts";
import { subscriptionService } from "../service.ts";
import { expectBooksToReconcile } from "../testing/books.ts";
import { aWithdrawal, deposit } from "../testing/funding.ts";
import { balanceOf } from "#test/support/platform-fake/ledger.ts";
import { executeWaiting } from "#test/support/platform-fake/transfers.ts";
import { settle, subscribed, whileJobsRun } from "../testing/settle.ts";
import { aCall, aMaster, anInvestor, aWorld, passTime } from "../testing/world.ts";
import { trader } from "../testing/trader.ts";

const { PAID, REFUSED, UNKNOWN } = WithdrawalState;

test("a withdrawal is answered with its figures and the ticket of its payout, and its account lock is released", async () => {
  const world = await aWorld();
  const { investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  const request = aWithdrawal(world, { operationId: "1", investorLogin, amount: 200_00n });
  const answer = await world.service.withdraw({ ...request, comment: "CRM-1" }, aCall());
  const transfer = world.platform.byKey.get("withdrawal:1")!;
  expect(answer).toEqual({
    state: PAID,
    refusal: undefined,
    figures: {
      inPool: true,
      balanceBefore: moneyToProto(usd(500_00n)),
      pendingFee: moneyToProto(usd(0n)),
      availableAfterFee: moneyToProto(usd(500_00n)),
      effective: moneyToProto(usd(200_00n)),
    },
    dealId: transfer.result.legs[0]!.dealId,
    hasWaited: false,
  });
  expect(transfer.request).toMatchObject({ comment: "CRM-1", releaseLock: true });
  expect(world.platform.accountLocks.get(investorLogin)).toBeUndefined();
});

test("a request with several invalid fields is refused with all of them", async () => {
  const world = await aWorld();
  const request = { operationId: "", investorLogin: "x", amount: moneyToProto(usd(-1n)), comment: "" };
  await expect(world.service.withdraw({ ...request, deadline: undefined }, aCall())).rejects.toMatchObject({
    code: "validation_failed",
    errors: ["operation_id", "investor_login", "amount", "deadline"].map((field) => ({ field })),
  });
});

test("a refused withdrawal stays refused, and another operation is decided anew", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  trader(world, masterLogin).openSome(3);
  const request = aWithdrawal(world, { operationId: "1", investorLogin, amount: 200_00n });
  const first = await world.service.withdraw(request, aCall());
  expect(first).toMatchObject({
    state: REFUSED,
    refusal: { code: "master_open_positions", details: { open_positions: "3" }, outcome: expect.anything() },
    figures: undefined,
  });
  expect(world.platform.accountLocks.get(investorLogin)).toBeUndefined();
  trader(world, masterLogin).closeAll();
  await expect(world.service.withdraw(request, aCall())).resolves.toEqual(first);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(500_00n);
  const other = await world.service.withdraw({ ...request, operationId: "2" }, aCall());
  expect(other).toMatchObject({ state: PAID, figures: { effective: { minorUnits: 200_00n } } });
  await expect(world.service.withdraw(request, aCall())).resolves.toEqual(first);
  await settle(world);
  await expectBooksToReconcile(world);
});

test("a withdrawal is refused as busy, also when repeated, if money does not reach the Master in time", async () => {
  const world = await aWorld();
  const { investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  await deposit(world, investorLogin, 100_00n);
  const request = aWithdrawal(world, { operationId: "1", investorLogin, amount: 600_00n });
  const first = await world.service.withdraw(request, aCall({ withinMs: 2_000 }));
  expect(first).toMatchObject({ state: REFUSED, refusal: { code: "account_busy", retryAfterMs: expect.anything() } });
  await settle(world);
  await expect(world.service.withdraw(request, aCall())).resolves.toEqual(first);
});

test("a repeated request waits for the first one that is still open, and gets its answer", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  await deposit(world, investorLogin, 100_00n);
  const request = aWithdrawal(world, { operationId: "1", investorLogin, amount: 600_00n });
  const calls = [1, 2, 3].map(() => world.service.withdraw(request, aCall()));
  const answers = await whileJobsRun(world, Promise.all(calls));
  expect(answers[0]).toMatchObject({ state: PAID, figures: { effective: { minorUnits: 600_00n } } });
  expect(answers).toEqual([answers[0], answers[0], answers[0]]);
  await settle(world);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(0n);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(0n);
  await expectBooksToReconcile(world);
});

test("none begins after its deadline, and one that has ended before is answered with its end", async () => {
  const world = await aWorld();
  const investorLogin = anInvestor(world, 500_00n);
  const paid = aWithdrawal(world, { operationId: "1", investorLogin, amount: 200_00n });
  const first = await world.service.withdraw(paid, aCall());
  await passTime(world, 60_000);
  await expect(world.service.withdraw(paid, aCall())).resolves.toEqual(first);
  const late = await world.service.withdraw({ ...paid, operationId: "2" }, aCall());
  expect(late).toMatchObject({ state: REFUSED, refusal: { code: "platform_unavailable" }, figures: undefined });
  await expect(world.service.withdraw({ ...paid, operationId: "2" }, aCall())).resolves.toEqual(late);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(300_00n);
  expect(world.platform.accountLocks.get(investorLogin)).toBeUndefined();
});

test("once it was answered that none has begun in time, a request that was held up begins none either", async () => {
  const world = await aWorld();
  const investorLogin = anInvestor(world, 500_00n);
  const request = aWithdrawal(world, { operationId: "1", investorLogin, amount: 200_00n });
  const heldUp = subscriptionService({ ...world.deps, now: () => new Date() });
  await passTime(world, 60_000);
  const answer = await world.service.withdraw(request, aCall());
  expect(answer).toMatchObject({ state: REFUSED, refusal: { code: "platform_unavailable" } });
  await expect(heldUp.withdraw(request, aCall())).resolves.toEqual(answer);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(500_00n);
});

test("while the outcome of its payout is not known it is UNKNOWN, and a repeated request or the job pays it once", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  for (const operationId of ["1", "2"]) {
    const request = aWithdrawal(world, { operationId, investorLogin, amount: 200_00n });
    world.platform.rules.delay = ({ key }) => key.startsWith("withdrawal:");
    const open = { state: UNKNOWN, refusal: undefined, figures: undefined, dealId: undefined };
    await expect(world.service.withdraw(request, aCall())).resolves.toMatchObject(open);
    world.platform.rules.delay = () => false;
    executeWaiting(world.platform);
    if (operationId === "2") await passTime(world, 60_000);
    await settle(world);
    const { dealId } = world.platform.byKey.get(`withdrawal:${operationId}`)!.result.legs[0]!;
    await expect(world.service.withdraw(request, aCall())).resolves.toMatchObject({ state: PAID, dealId });
    await settle(world);
  }
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(100_00n);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(100_00n);
  await expectBooksToReconcile(world);
});
