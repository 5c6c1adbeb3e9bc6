import { expect, test } from "vitest";
import { keyHash } from "#kernel/key-hash.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { enter } from "#test/support/platform-fake/ledger.ts";
import { STRIDE } from "#test/support/proof.ts";
import { payFees } from "../jobs/pay-fees.ts";
import { explainPayment } from "../queries/explain-payment.ts";
import { getPendingFee } from "../queries/get-pending-fee.ts";
import { crashing } from "./crash.ts";
import { expectToTie } from "./expect-to-tie.ts";
import { decideWeeks } from "./deciding.ts";
import { aCall, INVESTOR, MASTER, OTHER_PAYMENT_ACCOUNT, PAYMENT_ACCOUNT } from "./fee.ts";
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
  settle,
  type World,
} from "./world.ts";
import { cents } from "./cents.ts";

const WITHDRAWAL = `fee:${INVESTOR}:${MASTER}:WD0198`;
const { FEE_CREDIT, FEE_DEBIT } = MovementKind;

type Lost = { readonly key?: string; readonly amount: string; readonly credited?: string | undefined };

/** A fee that was collected after the backup: platform has imported its deals, and this service does not know it. */
function lose(
  { platform }: World,
  { key = WITHDRAWAL, amount, credited = PAYMENT_ACCOUNT }: Lost,
  hasCredit = true,
): void {
  const minor = cents(amount);
  enter(platform.ledger, INVESTOR, { kind: FEE_DEBIT, amount: -minor });
  if (hasCredit) enter(platform.ledger, credited, { kind: FEE_CREDIT, amount: minor });
  platform.imported.set(keyHash(key), {
    login: INVESTOR,
    creditLogin: hasCredit ? credited : undefined,
    amount: minor,
  });
}

/** A profit of 1,000.00 at 30 %: a fee of 300.00 is due when the week ends. */
async function aProfit(gain = "+1000.00"): Promise<World> {
  const world = await aWorld();
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
  const [row] = await many<{ minor: bigint }>(deps.pool, sql`select prepaid_minor as minor from fee_debt`);
  return String(row?.minor ?? 0n);
}

test("explanations and the pending fee show what imported fees have paid, and tie", async () => {
  const world = await aProfit();
  lose(world, { amount: "400.00" });
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
    missing: [],
  });
  expect(week.lines.slice(-2)).toEqual([
    "300.00 of it was collected before a restore of the database, so 0.00 is left.",
    "Nothing was collected: all of it was collected before a restore of the database.",
  ]);

  result(world, { [INVESTOR]: "+1000.00" });
  await settle(world);
  world.subscriptions.shares.set(INVESTOR, { masterLogin: MASTER, floating: 0n });
  const pending = await getPendingFee(world.deps, { investorLogin: INVESTOR }, aCall());
  expect(pending).toMatchObject({
    pending: { minorUnits: 200_00n },
    fee: { minorUnits: 300_00n },
    prepaid: { minorUnits: 100_00n },
  });
  expect((await decideLeave(world)).pending).toBe("200.00");
});

test("the fee of a lost withdrawal is not charged again when the week ends", async () => {
  const world = await aProfit();
  lose(world, { amount: "300.00" });
  await closeWeek(world);

  expect(balanceOf(world, INVESTOR)).toBe("10700.00");
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("300.00");
  expect(await paymentsOf(world)).toMatchObject([
    { suffix: "W", due: "300.00", paid: "0.00", status: "SKIPPED" },
    { suffix: `IM${keyHash(WITHDRAWAL)}`, due: "300.00", paid: "300.00", status: "EXECUTED" },
  ]);
  expect(await debtsOf(world)).toEqual({});
  await expectToTie(world);
  // The profit is charged: the next week has only its own.
  result(world, { [INVESTOR]: "+100.00" });
  await closeWeek(world);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("330.00");
  await expectToTie(world);
});

test("of a fee that a lost one had paid in part, the rest is collected", async () => {
  const world = await aProfit("+1500.00");
  lose(world, { amount: "300.00" });
  await closeWeek(world);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("450.00");
  expect(balanceOf(world, INVESTOR)).toBe("11050.00");
  await expectToTie(world);
});

test("what lost fees had paid beyond the fee that is due is taken from the next ones", async () => {
  const world = await aProfit();
  lose(world, { amount: "300.00" });
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

test("several lost fees of one Investor are all taken into account, also one without its credit", async () => {
  const world = await aProfit();
  lose(world, { amount: "100.00" });
  lose(world, { key: "second", amount: "50.00" }, false);
  lose(world, { key: "other", amount: "70.00", credited: OTHER_PAYMENT_ACCOUNT });
  await closeWeek(world);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("300.00");
  // What belongs to another Master waits for a fee of that one.
  expect([...world.platform.imported.keys()]).toEqual([keyHash("other")]);
  await expectToTie(world);
});

test("a withdrawal is charged only what the lost one had not paid", async () => {
  const world = await aProfit();
  lose(world, { amount: "300.00" });
  expect(await decideLeave(world)).toMatchObject({ pending: "300.00" });
  await expect(collectAll(world)).rejects.toMatchObject({ code: "outcome_unknown" });
  for (let rounds = 0; rounds < 3; rounds += 1) {
    await passTime(world);
    await settle(world);
  }
  expect(await collectAll(world)).toBe("0.00");
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("300.00");
  await expectToTie(world);
});

test("a week that is planned again claims its own deals, also when more was collected than is due now", async () => {
  const world = await aProfit();
  endWeek(world, { [INVESTOR]: "0.00" });
  await decideWeeks(world);
  const [week] = await many<{ key: string }>(world.deps.pool, sql`select key from fee_payment`);
  lose(world, { key: week?.key ?? "", amount: "310.00" });
  for (let round = 0; round < 4; round += 1) {
    await settle(world);
    await passTime(world);
  }
  expect([balanceOf(world, PAYMENT_ACCOUNT), await prepaidOf(world)]).toEqual(["310.00", "1000"]);
  await expectToTie(world);
});

test("a fee that this service has recorded is claimed by its payment, and the next one is charged", async () => {
  const world = await aProfit();
  await closeWeek(world);
  const [week] = await many<{ key: string }>(world.deps.pool, sql`select key from fee_payment`);
  // Only platform was restored.
  world.platform.byKey.delete(week?.key ?? "");
  const imported = { login: INVESTOR, creditLogin: PAYMENT_ACCOUNT, amount: 300_00n };
  world.platform.imported.set(keyHash(week?.key ?? ""), imported);
  result(world, { [INVESTOR]: "+100.00" });
  await closeWeek(world);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("330.00");
  expect(world.platform.imported.size).toBe(0);
  await expectToTie(world);
});

test("after a crash at any point the lost fee counts once", async () => {
  for (let points = 0; ; points += STRIDE) {
    const world = await aProfit("+1500.00");
    lose(world, { amount: "300.00" });
    endWeek(world, { [INVESTOR]: "0.00" });
    await decideWeeks(world);
    const { deps, crashed, pointsPassed } = crashing(world.deps, points);
    await Promise.race([crashed, untilPaid(world, deps)]);
    const isOver = pointsPassed() < points;
    await untilPaid(world);
    expect([balanceOf(world, PAYMENT_ACCOUNT), await prepaidOf(world)], `after ${points} points`).toEqual([
      "450.00",
      "0",
    ]);
    await expectToTie(world);
    if (isOver) return;
  }
}, 120_000);

/** Pays until nothing is open. */
async function untilPaid(world: World, deps = world.deps): Promise<void> {
  for (let round = 0; round < 8; round += 1) {
    await payFees(deps);
    await passTime(world);
  }
}
