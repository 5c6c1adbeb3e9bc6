import { expect, test } from "vitest";
import { column, many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import { countLockWaiters } from "#test/support/lock-waiters.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { openAccount } from "#test/support/platform-fake/ledger.ts";
import { payFees } from "../jobs/pay-fees.ts";
import {
  findMaster,
  insertMaster,
  listMastersOfAccounts,
  stopForBreak,
  listPaymentAccountsFrom,
} from "../store/masters.ts";
import { decideWeeks } from "../testing/deciding.ts";
import { decideLeave } from "../testing/leaving.ts";
import { INVESTOR, MASTER, OTHER_MASTER, OTHER_PAYMENT_ACCOUNT, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import {
  anInvestor,
  aWeek,
  aWorld,
  balanceOf,
  debtsOf,
  endWeek,
  expectToReconcile,
  passTime,
  result,
  settle,
  type World,
} from "../testing/world.ts";
import { changePaymentAccount } from "./change-payment-account.ts";

const NEXT_ACCOUNT = "6009";

async function withProfit(): Promise<World> {
  const world = await aWorld();
  openAccount(world.platform.ledger, NEXT_ACCOUNT, AccountRole.PAYMENT);
  const investor = await anInvestor(world, { deposit: "1000.00" });
  result(world, { [investor]: "100.00" });
  return world;
}

const change = ({ deps }: World, to = NEXT_ACCOUNT, masterLogin = MASTER) =>
  changePaymentAccount(deps, { masterLogin, from: PAYMENT_ACCOUNT, to });

const accountOf = async ({ deps }: World): Promise<string | undefined> =>
  (await findMaster(deps.pool, MASTER))?.paymentAccountLogin;

test("fees that are decided after a change go to the new account, executed ones stay on the old one", async () => {
  const world = await withProfit();
  endWeek(world, { [INVESTOR]: "0.00" });
  await settle(world);
  await change(world);
  await change(world);
  aWeek(world, { [INVESTOR]: "50.00" });
  await settle(world);

  expect([balanceOf(world, PAYMENT_ACCOUNT), balanceOf(world, NEXT_ACCOUNT)]).toEqual(["30.00", "15.00"]);
  expect(
    await many(
      world.deps.pool,
      sql`select payment_account_login as account, amount_minor as amount from fee_payment where status = 'EXECUTED' order by id`,
    ),
  ).toEqual([
    { account: PAYMENT_ACCOUNT, amount: 30_00n },
    { account: NEXT_ACCOUNT, amount: 15_00n },
  ]);
  await expectToReconcile(world);
});

test("a change is refused while fees are on their way, and they are paid to the old account", async () => {
  const world = await withProfit();
  endWeek(world, { [INVESTOR]: "0.00" });
  await decideWeeks(world);
  await expect(change(world)).rejects.toMatchObject({
    code: "fees_in_progress",
    outcome: "not_executed",
    details: { open_payments: "1" },
  });
  expect(await accountOf(world)).toBe(PAYMENT_ACCOUNT);
  await passTime(world);
  await payFees(world.deps);
  await change(world);
  expect([await accountOf(world), balanceOf(world, PAYMENT_ACCOUNT)]).toEqual([NEXT_ACCOUNT, "30.00"]);
});

test("a week that is decided at the same time as a change is paid to one of the two accounts, as a whole and once", async () => {
  for (let round = 0; round < 4; round += 1) {
    const world = await withProfit();
    endWeek(world, { [INVESTOR]: "0.00" });
    const [changed] = await Promise.allSettled([change(world), decideWeeks(world)]);
    await passTime(world);
    await settle(world);
    const isChanged = changed.status === "fulfilled";
    expect(await accountOf(world)).toBe(isChanged ? NEXT_ACCOUNT : PAYMENT_ACCOUNT);
    if (!isChanged) expect(changed.reason).toMatchObject({ code: "fees_in_progress" });
    // A week that was decided after the change is paid to the new account.
    const [paid, other] = isChanged ? [NEXT_ACCOUNT, PAYMENT_ACCOUNT] : [PAYMENT_ACCOUNT, NEXT_ACCOUNT];
    expect([balanceOf(world, paid), balanceOf(world, other)]).toEqual(["30.00", "0.00"]);
    await expectToReconcile(world);
  }
});

const other = (world: World, to: string) =>
  changePaymentAccount(world.deps, { masterLogin: OTHER_MASTER, from: OTHER_PAYMENT_ACCOUNT, to });

test.each<[string, (world: World) => Promise<unknown>]>([
  ["the week of another Master", (world) => decideWeeks(world)],
  ["a withdrawal from the pool of another Master", (world) => decideLeave(world)],
  ["a withdrawal from no pool", (world) => decideLeave(world, { masterLogin: "" })],
])(
  "a debt that is collected with %s at the same time as a change goes to the account of its Master",
  async (_, decide) => {
    const world = await aWorld();
    openAccount(world.platform.ledger, NEXT_ACCOUNT, AccountRole.PAYMENT);
    await anInvestor(world, { deposit: "1000.00" });
    world.subscriptions.floors.set(INVESTOR, 5000_00n);
    aWeek(world, { [INVESTOR]: "100.00" }, OTHER_MASTER);
    await settle(world);
    expect(await debtsOf(world)).toEqual({ [`${INVESTOR}:${OTHER_MASTER}`]: "30.00" });
    endWeek(world, { [INVESTOR]: "0.00" });

    const { pool } = world.deps;
    const isWaiting = async () => expect(await countLockWaiters(pool)).toBeGreaterThan(0);
    const [decided, changed] = await inTransaction(pool, async (tx) => {
      // The decision has recorded the payment, and waits here.
      await tx.query("lock table fee_debt_part in share mode");
      const decision = decide(world);
      await waitFor(isWaiting);
      const change = Promise.allSettled([other(world, NEXT_ACCOUNT)]);
      await Promise.race([change, waitFor(async () => expect(await countLockWaiters(pool)).toBe(2))]);
      return [decision, change] as const;
    });
    await decided;
    const [{ status }] = await changed;
    const accounts = sql`select payment_account_login from fee_payment where kind = 'PF_DEBT'`;
    expect(await column(pool, accounts)).toEqual([status === "fulfilled" ? NEXT_ACCOUNT : OTHER_PAYMENT_ACCOUNT]);
  },
);

test("a Master whose fees were never recorded keeps the new account", async () => {
  const world = await withProfit();
  await change(world);
  await decideLeave(world);
  expect(await accountOf(world)).toBe(NEXT_ACCOUNT);
});

test("the account of another Master, and a Master whose fees are stopped, are refused", async () => {
  const world = await withProfit();
  await insertMaster(world.deps.pool, MASTER, PAYMENT_ACCOUNT);
  await changePaymentAccount(world.deps, { masterLogin: OTHER_MASTER, from: OTHER_PAYMENT_ACCOUNT, to: "6008" });
  for (const login of ["6008", OTHER_PAYMENT_ACCOUNT]) {
    await expect(change(world, login)).rejects.toMatchObject({ code: "payment_account_in_use" });
  }
  await inTransaction(world.deps.pool, (tx) => stopForBreak(tx, MASTER, "a test"));
  await expect(change(world)).rejects.toMatchObject({ code: "safety_stop", outcome: "not_executed" });
  expect(await accountOf(world)).toBe(PAYMENT_ACCOUNT);
});

test("a former payment account is watched like the present one", async () => {
  const world = await withProfit();
  await change(world);
  const watched = await listPaymentAccountsFrom(world.deps.pool, "", 10);
  expect(watched.map(({ login }) => login)).toEqual([PAYMENT_ACCOUNT, NEXT_ACCOUNT]);
  expect(await listPaymentAccountsFrom(world.deps.pool, PAYMENT_ACCOUNT, 1)).toMatchObject([{ login: NEXT_ACCOUNT }]);
  expect(await listMastersOfAccounts(world.deps.pool, [PAYMENT_ACCOUNT])).toMatchObject([{ login: MASTER }]);
  await change(world, PAYMENT_ACCOUNT);
  expect(await listPaymentAccountsFrom(world.deps.pool, "", 10)).toEqual(watched);
  expect(await listMastersOfAccounts(world.deps.pool, [NEXT_ACCOUNT])).toMatchObject([{ login: MASTER }]);
});
