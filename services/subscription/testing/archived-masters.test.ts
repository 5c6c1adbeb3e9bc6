import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { MarketWaitReason } from "#proto/pamm/subscription/v1/subscription.ts";
import { balanceOf } from "#test/support/platform-fake/ledger.ts";
import { mirrors } from "../checks/mirrors.ts";
import { expectBooksToReconcile } from "./books.ts";
import { completeWithdrawal, decideWithdrawal, deposit, holdForWithdrawal, withdraw } from "./funding.ts";
import { cents, inBucket, balances, findingsOf, proofOf } from "./ledger.ts";
import { type Pair, settle, aPair, settleAndReconcile } from "./settle.ts";
import { aCall, passTime, type World } from "./world.ts";

/** An Investor that has deposited 40.00 into the empty pool of a Master whose account the broker has archived. */
async function aWaitingDeposit(): Promise<{ readonly world: World; readonly pair: Pair }> {
  const { world, ...pair } = await aPair(0n);
  world.platform.ledger.archived.add(pair.masterLogin);
  await deposit(world, pair.investorLogin, 40_00n);
  await settle(world);
  return { world, pair };
}

test("a deposit whose Master is archived stays on the account, visibly, and is mirrored when the account is shown again", async () => {
  const { world, pair } = await aWaitingDeposit();
  const { masterLogin, investorLogin } = pair;
  const { ledger } = world.platform;
  expect(await inBucket(world, masterLogin, "inbound")).toEqual([40_00n]);
  const keys = await many<{ key: string }>(world.deps.pool, sql`select source_key as key from flow order by id`);
  const parts = () => world.service.findMirrors({ keys: keys.map(({ key }) => key) }, aCall());
  expect((await parts()).items).toMatchObject([{ isHeld: true, isMasterArchived: true, mirrorKey: undefined }]);
  const wait = { reason: MarketWaitReason.MASTER_NOT_SHOWN, amount: { minorUnits: 40_00n } };
  const proof = await proofOf(world, masterLogin);
  expect(proof).toMatchObject({ converged: false, waits: [wait] });
  expect(cents(proof.total?.difference)).toBe(0n);
  await world.deps.pool.query("update flow set created_at = created_at - interval '61 seconds'");
  const check = mirrors(world.deps);
  expect(await findingsOf(check)).toEqual([]);
  await expectBooksToReconcile(world);

  // Nothing is asked of platform again before it shows the account.
  const requested = world.platform.byKey.size;
  await passTime(world, 15_000);
  await settle(world);
  expect(world.platform.byKey.size).toBe(requested);
  ledger.archived.delete(masterLogin);
  await passTime(world, 15_000);
  await settleAndReconcile(world);
  expect(balances(world, masterLogin, investorLogin)).toEqual([40_00n, 40_00n]);
  expect((await parts()).items).toMatchObject([
    { isHeld: false, isMasterArchived: false, appliedAt: expect.any(Date) },
  ]);
  expect(await proofOf(world, masterLogin)).toMatchObject({ converged: true, waits: [] });
});

test("what waits for an archived Master can be withdrawn, and the rest waits on", async () => {
  const { world, pair } = await aWaitingDeposit();
  const { masterLogin, investorLogin } = pair;
  const { ledger } = world.platform;
  expect(await withdraw(world, investorLogin, 15_00n, "1")).toBe(15_00n);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "inbound")).toEqual([25_00n]);
  // What is decided while the Master is archived is paid also when that has ended.
  const withdrawal = await holdForWithdrawal(world, investorLogin, 5_00n);
  await expect(decideWithdrawal(world, withdrawal)).resolves.toMatchObject({ effective: 5_00n });
  ledger.archived.delete(masterLogin);
  await passTime(world, 15_000);
  await settle(world);
  expect(balanceOf(ledger, masterLogin)).toBe(20_00n);
  await completeWithdrawal(world, withdrawal);
  await settleAndReconcile(world);
  expect(balanceOf(ledger, investorLogin)).toBe(20_00n);
});

test("what waits can be withdrawn again while the fee of a week, which the first withdrawal has reserved, waits for a payment account", async () => {
  const { world, investorLogin, masterLogin } = await aPair(0n);
  world.platform.ledger.archived.add(masterLogin);
  await deposit(world, investorLogin, 40_00n);
  await settle(world);
  world.fees.rules.archivedPaymentAccount = "69999";
  world.fees.rules.openWeekly = () => [{ key: "fee:weekly", amount: 5_00n }];
  expect(await withdraw(world, investorLogin, 10_00n, "1")).toBe(10_00n);
  await settle(world);
  expect(await withdraw(world, investorLogin, 10_00n, "2")).toBe(10_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "inbound")).toEqual([15_00n]);
  expect(await many(world.deps.pool, sql`select key, amount_minor as minor from reserve where state = 'OPEN'`)).toEqual(
    [{ key: "fee:weekly", minor: 5_00n }],
  );
});
