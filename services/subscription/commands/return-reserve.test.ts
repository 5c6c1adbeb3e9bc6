import { expect, test, vi } from "vitest";
import { poolLedger } from "../testing/ledger.ts";
import { expectBooksToReconcile } from "../testing/books.ts";
import { completeWithdrawal, decideWithdrawal, holdForWithdrawal, release } from "../testing/funding.ts";
import { departureKey } from "../domain/departure.ts";
import { balanceOf } from "#test/support/platform-fake/ledger.ts";
import { settle, aPair, settleAndReconcile } from "../testing/settle.ts";
import { aCall, aWorld } from "../testing/world.ts";

test("the reserve of a refused debit returns to the pool without a call to platform", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 200_00n);
  await decideWithdrawal(world, withdrawal);
  const calls = world.platform.byKey.size;
  const key = departureKey(withdrawal);
  const notify = vi.spyOn(world.deps.wakeSignals.strikes, "notify");
  expect(await world.service.returnReserve({ key }, aCall())).toMatchObject({ amount: { minorUnits: 200_00n } });
  expect(notify).toHaveBeenCalledOnce();
  await release(world, withdrawal);
  await settle(world);
  const { holdings } = await poolLedger(world, masterLogin);
  expect(holdings).toMatchObject([{ pooled: 500_00n, reserved: 0n }]);
  expect(world.platform.byKey.size).toBe(calls);
  await expectBooksToReconcile(world);
});

test("concurrent and repeated calls return a reserve once", async () => {
  const { world, investorLogin } = await aPair(500_00n);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 200_00n);
  await decideWithdrawal(world, withdrawal);
  const answers = await Promise.all(
    [1, 2, 3].map(() => world.service.returnReserve({ key: departureKey(withdrawal) }, aCall())),
  );
  expect(answers.map(({ amount }) => amount!.minorUnits).toSorted()).toEqual([0n, 0n, 200_00n]);
  await expectBooksToReconcile(world);
});

test("a reserve that its debit has settled is not returned", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 200_00n);
  await decideWithdrawal(world, withdrawal);
  await completeWithdrawal(world, withdrawal);
  await settle(world);
  const key = departureKey(withdrawal);
  expect(await world.service.returnReserve({ key }, aCall())).toMatchObject({ amount: { minorUnits: 0n } });
  await settleAndReconcile(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(300_00n);
});

test("an unknown key returns 0.00, and an empty key is invalid", async () => {
  const world = await aWorld();
  expect(await world.service.returnReserve({ key: "never" }, aCall())).toMatchObject({ amount: { minorUnits: 0n } });
  await expect(world.service.returnReserve({ key: "" }, aCall())).rejects.toMatchObject({
    code: "validation_failed",
    errors: [{ field: "key" }],
  });
});
