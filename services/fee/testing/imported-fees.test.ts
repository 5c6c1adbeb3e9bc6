import { expect, test } from "vitest";
import { keyHash } from "#kernel/values/key-hash.ts";
import { column, many, sql } from "#kernel/postgres/query.ts";
import { confirmsNothing } from "#kernel/testing/votes.ts";
import { feeChecks } from "../checks/checks.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { enter, openAccount } from "#test/support/platform-fake/ledger.ts";
import { STRIDE } from "#test/support/proof.ts";
import { PermitState } from "#proto/pamm/platform/v1/platform.ts";
import { payFees } from "../jobs/pay-fees.ts";
import { recordImportedFees } from "../jobs/record-imported-fees.ts";
import { explainPayment } from "../queries/explain-payment.ts";
import { crashing } from "./crash.ts";
import { decideWeeks } from "./deciding.ts";
import { aCall, INVESTOR, MASTER, OTHER_MASTER, OTHER_PAYMENT_ACCOUNT, PAYMENT_ACCOUNT } from "./fee.ts";
import { collectAll, decideLeave } from "./leaving.ts";
import {
  anInvestor,
  aWorld,
  balanceOf,
  debtsOf,
  endWeek,
  passTime,
  paymentsOf,
  result,
  runsOf,
  settle,
  type World,
} from "./world.ts";
import { cents } from "#kernel/testing/cents.ts";

const WITHDRAWAL = `fee:${INVESTOR}:${MASTER}:WD0198`;
/** Of a Master, until the change was lost. */
const FORMER_PAYMENT_ACCOUNT = "6009";
const UNMATCHED = "imported fee belongs to no known Master or payment, manual check required";
const { FEE_CREDIT, FEE_DEBIT } = MovementKind;

type Lost = { readonly key?: string; readonly amount: string; readonly credited?: string | undefined };

/** A fee that was collected after the backup: platform has imported its deals. */
function lose(
  { platform }: World,
  { key = WITHDRAWAL, amount, credited = PAYMENT_ACCOUNT }: Lost,
  hasCredit = true,
): void {
  const minor = cents(amount);
  const { dealId: debitDealId } = enter(platform.ledger, INVESTOR, { kind: FEE_DEBIT, amount: -minor });
  if (hasCredit) enter(platform.ledger, credited, { kind: FEE_CREDIT, amount: minor });
  platform.imported.set(keyHash(key), {
    transferId: 900n + BigInt(platform.imported.size),
    debitDealId,
    login: INVESTOR,
    creditLogin: hasCredit ? credited : undefined,
    amount: minor,
  });
}

/** The repair after a restore, before operators resume. */
async function repair({ platform: { state, reports }, deps }: World, own = deps): Promise<void> {
  state.permits = PermitState.STOPPED;
  state.generation += 1n;
  await recordImportedFees(own);
  expect(reports.at(-1)).toEqual({ service: "fee", generation: state.generation });
  state.permits = PermitState.GRANTED;
}

/** A profit of 1,000.00 at 30 %: a fee of 300.00 is due when the week ends. */
async function aProfit(gain = "+1000.00"): Promise<World> {
  const world = await aWorld();
  openAccount(world.platform.ledger, FORMER_PAYMENT_ACCOUNT, AccountRole.PAYMENT);
  await anInvestor(world, { deposit: "10000.00" });
  result(world, { [INVESTOR]: gain });
  return world;
}

async function closeWeek(world: World): Promise<void> {
  endWeek(world, { [INVESTOR]: "0.00" });
  await settle(world);
  // Payments that were refused once are due again.
  for (let round = 0; round < 3; round += 1) {
    await passTime(world);
    await settle(world);
  }
}

async function prepaidOf({ deps }: World): Promise<string> {
  const [row] = await many<{ minor: bigint }>(deps.pool, sql`select prepaid_minor as minor from fee_prepaid`);
  return String(row?.minor ?? 0n);
}

test("explanations show what imported fees have paid, and so does what is due next", async () => {
  const world = await aProfit();
  lose(world, { amount: "400.00" });
  await repair(world);
  await closeWeek(world);
  const rows = await many<{ id: bigint; suffix: string }>(world.deps.pool, sql`select id, suffix from fee_payment`);
  const explain = async (isWanted: (suffix: string) => boolean) => {
    const { id: paymentId = 0n } = rows.find(({ suffix }) => isWanted(suffix)) ?? {};
    return await explainPayment(world.deps, { paymentId }, aCall());
  };
  expect(await explain((suffix) => suffix.startsWith("IM"))).toMatchObject({
    amount: { minorUnits: 400_00n },
    missing: [{ code: "imported" }],
    calculation: undefined,
  });
  const week = await explain((suffix) => suffix === "W");
  expect(week).toMatchObject({
    due: { minorUnits: 300_00n },
    prepaid: { minorUnits: 300_00n },
    amount: { minorUnits: 0n },
    uncollected: { minorUnits: 0n },
  });
  expect(week.lines.slice(-2)).toEqual([
    "300.00 of it was collected before a restore of the database, so 0.00 is left.",
    "Nothing was collected: it was collected before a restore of the database.",
  ]);

  result(world, { [INVESTOR]: "+1000.00" });
  await settle(world);
  expect((await decideLeave(world)).pending).toBe("200.00");
});

test("the fee of a lost withdrawal is a payment, and is not charged again when the week ends", async () => {
  const world = await aProfit();
  lose(world, { amount: "300.00" });
  await repair(world);
  await closeWeek(world);

  expect(balanceOf(world, INVESTOR)).toBe("10700.00");
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("300.00");
  expect(await paymentsOf(world)).toMatchObject([
    { suffix: `IM${keyHash(WITHDRAWAL)}`, due: "300.00", paid: "300.00", status: "EXECUTED" },
    { suffix: "W", due: "300.00", paid: "0.00", status: "SKIPPED" },
  ]);
  expect(await runsOf(world)).toMatchObject([
    { kind: "ON_DEMAND", status: "EXECUTED" },
    { kind: "WEEKLY", status: "EXECUTED" },
  ]);
  expect(await debtsOf(world)).toEqual({});
  await expectToTie(world);
  // The profit is charged: the next week has only its own.
  result(world, { [INVESTOR]: "+100.00" });
  await closeWeek(world);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("330.00");
  await expectToTie(world);
});

test("what lost fees had paid beyond the fee that is due is taken from the next ones", async () => {
  const world = await aProfit();
  lose(world, { amount: "300.00" });
  await repair(world);
  // The profit was 500.00 smaller when the week ended.
  result(world, { [INVESTOR]: "-500.00" });
  await closeWeek(world);
  expect([balanceOf(world, PAYMENT_ACCOUNT), await prepaidOf(world)]).toEqual(["300.00", "15000"]);
  result(world, { [INVESTOR]: "+700.00" });
  expect(await decideLeave(world)).toMatchObject({ pending: "60.00" });
  expect(await collectAll(world)).toBe("60.00");
  await passTime(world);
  await settle(world);
  expect([balanceOf(world, PAYMENT_ACCOUNT), await prepaidOf(world)]).toEqual(["360.00", "0"]);
  await expectToTie(world);
});

test("the payment account says which Master a lost fee was paid to, and without a credit the last subscription does, which gets it once", async () => {
  const world = await aProfit();
  const { platform, subscriptions } = world;
  lose(world, { amount: "100.00" });
  lose(world, { key: "second", amount: "50.00" }, false);
  lose(world, { key: "other", amount: "70.00", credited: OTHER_PAYMENT_ACCOUNT });
  subscriptions.lastMaster = MASTER;
  await repair(world);
  await repair(world);
  expect(platform.imported.size).toBe(0);
  await closeWeek(world);
  expect(await paymentsOf(world)).toMatchObject([
    { master: MASTER, paid: "100.00", status: "EXECUTED" },
    { master: MASTER, paid: "50.00", status: "EXECUTED" },
    { master: OTHER_MASTER, paid: "70.00", status: "EXECUTED" },
    { suffix: "W", due: "300.00", paid: "150.00" },
  ]);
  expect([balanceOf(world, PAYMENT_ACCOUNT), balanceOf(world, OTHER_PAYMENT_ACCOUNT)]).toEqual(["300.00", "70.00"]);
  await expectToTie(world);
});

test("a lost fee whose Master or Investor is not known is reported as an error, and recorded when it is known", async () => {
  const world = await aProfit();
  const { deps, platform, subscriptions } = world;
  lose(world, { amount: "100.00", credited: FORMER_PAYMENT_ACCOUNT });
  const { error, lines } = recordingErrors();
  await repair(world, { ...deps, log: { ...deps.log, error } });
  const accounts = { ...deps.accounts, findAccounts: () => Promise.resolve({ accounts: [] }) };
  subscriptions.lastMaster = MASTER;
  await repair(world, { ...deps, accounts, log: { ...deps.log, error } });
  expect(lines).toEqual(Array.from({ length: 2 }, () => UNMATCHED));
  expect(platform.imported.size).toBe(1);
  expect(await paymentsOf(world)).toEqual([]);
  // Operators have resumed meanwhile.
  await recordImportedFees(deps);
  expect(await paymentsOf(world)).toMatchObject([{ master: MASTER, due: "100.00", status: "EXECUTING" }]);
  await closeWeek(world);
  expect([balanceOf(world, FORMER_PAYMENT_ACCOUNT), balanceOf(world, PAYMENT_ACCOUNT)]).toEqual(["100.00", "200.00"]);
  await expectToTie(world);
});

test("a second fee with the hash of a recorded one is reported as an error, and recorded never", async () => {
  const world = await aProfit();
  lose(world, { amount: "100.00" });
  await repair(world);
  await pay(world);
  lose(world, { amount: "100.00" });
  const { error, lines } = recordingErrors();
  await repair(world, { ...world.deps, log: { ...world.deps.log, error } });
  expect(lines).toEqual([UNMATCHED]);
  expect([await prepaidOf(world), (await paymentsOf(world)).length]).toEqual(["10000", 1]);
});

test("a fee of a payment that is open settles it: nothing is sent, and the rest becomes debt", async () => {
  const world = await aProfit();
  const key = await decidedWeek(world);
  lose(world, { key, amount: "290.00" }, false);
  await repair(world);
  await pay(world);
  expect(await paymentsOf(world)).toMatchObject([{ suffix: "W", due: "300.00", paid: "290.00", status: "EXECUTED" }]);
  expect(await debtsOf(world)).toEqual({ [`${INVESTOR}:${MASTER}`]: "10.00" });
  expect([balanceOf(world, INVESTOR), balanceOf(world, PAYMENT_ACCOUNT)]).toEqual(["10710.00", "290.00"]);
  expect(await prepaidOf(world)).toBe("0");
  await expectToTie(world);
});

test("a payment that is debited, or was settled by a process that has outlived the restore, takes no fee again", async () => {
  const world = await aProfit();
  const { platform, deps } = world;
  await closeWeek(world);
  const [week] = await many<{ key: string; dealId: bigint }>(
    deps.pool,
    sql`select key, deal_id as "dealId" from fee_payment`,
  );
  const { key, dealId: debitDealId } = week!;
  platform.byKey.delete(key);
  const lost = { transferId: 77n, debitDealId, login: INVESTOR, creditLogin: PAYMENT_ACCOUNT, amount: 300_00n };
  platform.imported.set(keyHash(key), lost);
  await repair(world);
  expect(platform.byKey.has(key)).toBe(true);
  expect(await paymentsOf(world)).toHaveLength(1);
  expect(await prepaidOf(world)).toBe("0");
  await expectToTie(world);
});

test("more than is due of the payment with its key, or paid to another account, is a payment of its own", async () => {
  for (const { amount, credited, left } of [
    { amount: "310.00", credited: PAYMENT_ACCOUNT, left: "700" },
    { amount: "300.00", credited: FORMER_PAYMENT_ACCOUNT, left: "0" },
  ]) {
    const world = await aProfit();
    const key = await decidedWeek(world);
    lose(world, { key, amount, credited });
    world.subscriptions.lastMaster = MASTER;
    await repair(world);
    await pay(world);
    expect(await paymentsOf(world)).toMatchObject([
      { suffix: "W", due: "300.00", paid: "0.00", status: "SKIPPED" },
      { suffix: `IM${keyHash(key)}`, due: amount, paid: amount, status: "EXECUTED" },
    ]);
    // What the week has lost is owed, and was paid.
    expect(await debtsOf(world)).toEqual({ [`${INVESTOR}:${MASTER}`]: "300.00" });
    result(world, { [INVESTOR]: "+10.00" });
    await closeWeek(world);
    expect([await debtsOf(world), await prepaidOf(world)]).toEqual([{}, left]);
  }
});

test("a fee that is decided again under the key of an imported one is not sent, and its rest becomes debt", async () => {
  const world = await aProfit();
  const key = `fee:${INVESTOR}:${MASTER}:W:2026-01-10T00:00:00.000Z`;
  lose(world, { key, amount: "200.00" });
  await repair(world);
  await closeWeek(world);
  expect(world.platform.byKey.has(key)).toBe(false);
  expect(await paymentsOf(world)).toMatchObject([
    { suffix: `IM${keyHash(key)}`, paid: "200.00", status: "EXECUTED" },
    { suffix: "W", due: "300.00", paid: "0.00", status: "SKIPPED" },
  ]);
  expect(await debtsOf(world)).toEqual({ [`${INVESTOR}:${MASTER}`]: "100.00" });
  expect(await prepaidOf(world)).toBe("0");
  result(world, { [INVESTOR]: "+10.00" });
  await closeWeek(world);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("303.00");
  await expectToTie(world);
});

test("a lost fee whose credit is refused is owed again", async () => {
  const world = await aProfit();
  lose(world, { amount: "300.00" }, false);
  world.subscriptions.lastMaster = MASTER;
  world.platform.rules.refusesCredit = () => true;
  await repair(world);
  await pay(world);
  expect(await paymentsOf(world)).toMatchObject([{ due: "300.00", paid: "0.00", status: "REVERSED" }]);
  expect([await debtsOf(world), await prepaidOf(world)]).toEqual([{ [`${INVESTOR}:${MASTER}`]: "300.00" }, "30000"]);
  world.platform.rules.refusesCredit = () => false;
  await closeWeek(world);
  // 600.00 are due, 300.00 were prepaid.
  expect(balanceOf(world, INVESTOR)).toBe("10700.00");
  expect([await debtsOf(world), await prepaidOf(world)]).toEqual([{}, "0"]);
  await expectToTie(world);
});

test("nothing is recorded or reported before everything is imported, and a failure is retried", async () => {
  const world = await aProfit();
  const { platform, deps } = world;
  lose(world, { amount: "300.00" });
  Object.assign(platform.state, { permits: PermitState.STOPPED, isImported: false });
  await recordImportedFees(deps);
  Object.assign(platform.state, { permits: PermitState.READING, isImported: true });
  await recordImportedFees(deps);
  platform.state.isDown = true;
  await recordImportedFees(deps);
  platform.state.isDown = false;
  expect([platform.reports, await paymentsOf(world)]).toEqual([[], []]);
  const { error, lines } = recordingErrors();
  const client = { ...deps.platform, claimImportedFees: () => Promise.reject(new Error("defect")) };
  platform.state.permits = PermitState.STOPPED;
  await recordImportedFees({ ...deps, platform: client, log: { ...deps.log, error } });
  expect([platform.reports, lines]).toEqual([[], ["fees of a lost time not recorded, retry scheduled"]]);
  // The payment is recorded, and platform does not know it yet.
  await pay(world);
  expect(await paymentsOf(world)).toMatchObject([{ status: "EXECUTING" }]);
  await repair(world);
  await pay(world);
  expect(await paymentsOf(world)).toMatchObject([{ status: "EXECUTED", paid: "300.00" }]);
});

test("after a crash at any point of the repair a lost fee counts once", async () => {
  for (let points = 0; ; points += STRIDE) {
    const world = await aProfit("+1500.00");
    const key = await decidedWeek(world);
    lose(world, { amount: "300.00" });
    lose(world, { key, amount: "430.00" }, false);
    const { deps, crashed, pointsPassed } = crashing(world.deps, points);
    world.platform.state.permits = PermitState.STOPPED;
    await Promise.race([crashed, recordImportedFees(deps).then(() => pay(world, deps))]);
    const isOver = pointsPassed() < points;
    await repair(world);
    await pay(world);
    expect(await paymentsOf(world), `after ${points} points`).toMatchObject([
      { suffix: "W", due: "450.00", paid: "430.00", status: "EXECUTED" },
      { suffix: `IM${keyHash(WITHDRAWAL)}`, paid: "300.00", status: "EXECUTED" },
    ]);
    expect([balanceOf(world, PAYMENT_ACCOUNT), await prepaidOf(world)]).toEqual(["730.00", "30000"]);
    expect(await debtsOf(world)).toEqual({ [`${INVESTOR}:${MASTER}`]: "20.00" });
    await expectToTie(world);
    if (isOver) return;
  }
}, 120_000);

/** The key of the payment of a week that is recorded and not sent. */
async function decidedWeek(world: World): Promise<string> {
  endWeek(world, { [INVESTOR]: "0.00" });
  await decideWeeks(world);
  const [week] = await many<{ key: string }>(world.deps.pool, sql`select key from fee_payment`);
  return week?.key ?? "";
}

/** Pays until nothing is open. */
async function pay(world: World, deps = world.deps): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    await passTime(world);
    await payFees(deps);
  }
}

function recordingErrors() {
  const lines: string[] = [];
  return { lines, error: (message: string) => void lines.push(message) };
}

/** The checks find nothing, and what was paid is on the payment account. */
async function expectToTie(world: World): Promise<void> {
  for (const check of feeChecks({ ...world.deps, confirm: confirmsNothing })) {
    expect((await check.run({ cursor: "", pendingBreaks: [] })).findings, check.name).toEqual([]);
  }
  const paid = await column<bigint>(
    world.deps.pool,
    sql`select coalesce(sum(amount_minor), 0)::bigint from fee_payment where status = 'EXECUTED' and payment_account_login = ${PAYMENT_ACCOUNT}`,
  );
  expect(paid).toEqual([cents(balanceOf(world, PAYMENT_ACCOUNT))]);
}
