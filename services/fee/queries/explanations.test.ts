import { beforeEach, expect, test } from "vitest";
import { corrupt } from "#test/support/corrupt.ts";
import { testDatabase } from "#test/support/database.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { setBalance } from "#test/support/platform-fake/ledger.ts";
import type { PaymentExplanation, PendingFee } from "#proto/pamm/fee/v1/fee.ts";
import { updateConfiguration } from "../commands/configure.ts";
import { insertMaster } from "../store/masters.ts";
import { aCall, INVESTOR, MASTER, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import { collectAll, decideLeave } from "../testing/leaving.ts";
import { cents } from "#kernel/testing/cents.ts";
import { formatMinor } from "#kernel/values/money.ts";
import { anInvestor, aWorld, endWeek, owe, paymentsOf, result, settle, type World } from "../testing/world.ts";
import { explainPayment } from "./explain-payment.ts";
import { getPendingFee } from "./get-pending-fee.ts";

const { pool } = await testDatabase("fee");
let world: World;

beforeEach(async () => {
  world = await aWorld(pool);
  await anInvestor(world, { deposit: "10000.00" });
});

const explain = (paymentId: bigint) => explainPayment(world.deps, { paymentId }, aCall());

/** The newest payment, with amounts as text. */
async function explained(): Promise<PaymentExplanation> {
  const [row] = await many<{ id: bigint }>(pool, sql`select max(id) as id from fee_payment`);
  return await explain(row!.id);
}

function amountsOf({ due, prepaid, amount, uncollected }: PaymentExplanation): string[] {
  return [due, prepaid, amount, uncollected].map((money) => formatMinor(money!.minorUnits));
}

/** The pending fee, with a floating share. Nothing is written by it. */
async function pending(floating = "0.00", login = INVESTOR): Promise<PendingFee> {
  const markedAt = floating === "0.00" ? {} : { markedAt: world.clock.now };
  world.subscriptions.shares.set(login, { masterLogin: MASTER, floating: cents(floating), ...markedAt });
  const before = await rowsOf();
  const answer = await getPendingFee(world.deps, { investorLogin: login }, aCall());
  expect(await rowsOf()).toEqual(before);
  return answer;
}

async function rowsOf(): Promise<unknown[]> {
  return await many(pool, sql`select * from fee_payment order by id`);
}

const pendingText = async (floating?: string) => formatMinor((await pending(floating)).pending!.minorUnits);

async function configure(change: { ratePpm?: number; enabled?: boolean; effectiveSince?: Date }, key: string) {
  world.clock.now = new Date(world.clock.now.getTime() + 30 * 60_000);
  const whole = { ratePpm: undefined, enabled: undefined, effectiveSince: undefined, upsert: true, ...change };
  await updateConfiguration(world.deps, { investorLogin: INVESTOR, ...whole }, aCall(key));
}

/** Ends the week; the fee that it takes is what was pending just before. */
async function week(amount: string, floating = "0.00"): Promise<string> {
  result(world, { [INVESTOR]: amount });
  await settle(world);
  const shown = await pendingText(floating);
  const known = (await paymentsOf(world)).length;
  endWeek(world, { [INVESTOR]: floating });
  await settle(world);
  const taken = (await paymentsOf(world)).slice(known).reduce((sum, { due }) => sum + cents(due), 0n);
  expect(formatMinor(taken)).toBe(shown);
  return shown;
}

test("the pending fee is what the week then takes, and its explanation ties to the payment", async () => {
  expect(await week("+1000.00")).toBe("300.00");
  const first = await explained();
  expect(amountsOf(first)).toEqual(["300.00", "0.00", "300.00", "0.00"]);
  expect(first).toMatchObject({
    kind: "PF",
    status: "EXECUTED",
    masterLogin: MASTER,
    missing: [],
    calculation: {
      earned: "1000.00",
      markBefore: "0.00",
      markAfter: "1000.00",
      fee: "300.00",
      throughDealId: 7_001n,
      charged: [{ amount: "1000.00", rate: "0.300000", versionId: 1n, share: "300.00" }],
    },
  });
  expect(first.lines).toEqual([
    `Performance fee of a week of Investor ${INVESTOR} to Master ${MASTER}.`,
    "As of 2026-01-10 00:00:00 UTC the result with this Master is 1000.00 since the first assign. Fees were charged up to 0.00, the high-water mark, so 1000.00 of profit is not charged yet.",
    "Since the first assign 0.00 joined the pool and 0.00 left it, fees included. Deposits and withdrawals change neither the result nor the high-water mark.",
    "1000.00, earned 2026-01-03 01:00:00 UTC, at 30 % (fee version 1): 300.00.",
    "Together the fee is 300.00.",
    "The high-water mark rises from 0.00 to 1000.00.",
    expect.stringMatching(/^300\.00 was collected at .* UTC\.$/),
  ]);
  expect(await week("-600.00")).toBe("0.00");
  expect(await week("+1100.00", "-400.00")).toBe("30.00");
  expect((await explained()).calculation).toMatchObject({
    floating: "-400.00",
    markBefore: "1000.00",
    markAfter: "1100.00",
  });
});

test("a withdrawal takes what is pending, and what was charged stays as it is explained", async () => {
  result(world, { [INVESTOR]: "+1421.37" });
  await configure({ ratePpm: 275_000 }, "lower");
  expect(await pendingText()).toBe("390.87");
  expect((await decideLeave(world)).pending).toBe("390.87");
  await collectAll(world);

  const explanation = await explained();
  expect(explanation.lines[0]).toBe(`Performance fee at a withdrawal of Investor ${INVESTOR} to Master ${MASTER}.`);
  expect(explanation).toMatchObject({
    missing: [],
    calculation: { exactFee: "390.87675", roundedOff: "0.00675", fee: "390.87", throughDealId: 7_001n },
  });
  expect(explanation.calculation?.charged).toMatchObject([{ versionId: 2n, share: "390.87675" }]);
  expect(await pendingText()).toBe("0.00");
  await configure({ ratePpm: 100_000, effectiveSince: new Date("2026-01-03T00:00:00Z") }, "past");
  expect(await explain(explanation.paymentId)).toEqual(explanation);
});

test("a fee that was collected in part names the debt, and the payment of the debt names the fees that it comes from", async () => {
  result(world, { [INVESTOR]: "+1000.00" });
  await settle(world);
  setBalance(world.platform.ledger, INVESTOR, 100_00n);
  endWeek(world, { [INVESTOR]: "0.00" });
  await settle(world);
  const fee = await explained();
  expect(amountsOf(fee)).toEqual(["300.00", "0.00", "100.00", "200.00"]);
  expect(fee.lines.slice(-1)).toEqual(["200.00 could not be collected and became debt."]);
  const owed = await pending();
  expect([owed.pending, owed.debt, owed.fee].map((money) => formatMinor(money!.minorUnits))).toEqual([
    "200.00",
    "200.00",
    "0.00",
  ]);

  setBalance(world.platform.ledger, INVESTOR, 150_00n);
  expect(await week("+100.00")).toBe("230.00");
  const [debt] = await many<{ id: bigint }>(pool, sql`select id from fee_payment where suffix = 'DEBT'`);
  const explanation = await explain(debt!.id);
  expect(explanation).toMatchObject({
    kind: "PF_DEBT",
    calculation: undefined,
    missing: [],
    debtParts: [{ paymentId: fee.paymentId, amount: { minorUnits: 200_00n } }],
  });
  expect(explanation.lines).toContain(
    `200.00 of it is of payment ${fee.paymentId}, owed since 2026-01-10 00:00:00 UTC.`,
  );
  // Parts that are not the whole debt are shown with that.
  await corrupt(pool, "update fee_payment set taken_by_id = null");
  expect(await explain(debt!.id)).toMatchObject({ missing: [{ code: "debt_parts" }] });
});

test("while fees are switched off nothing is pending, and outside a pool only debts are", async () => {
  result(world, { [INVESTOR]: "+1000.00" });
  await configure({ enabled: false }, "off");
  await settle(world);
  expect(await pending()).toMatchObject({
    enabled: false,
    pending: { minorUnits: 0n },
    calculation: undefined,
    lines: ["Fees are switched off: nothing is collected, debts included."],
  });
  await configure({ enabled: true }, "on");
  expect(await pendingText()).toBe("300.00");
  world.subscriptions.shares.clear();
  await insertMaster(pool, MASTER, PAYMENT_ACCOUNT);
  await owe(pool, INVESTOR, MASTER);
  expect(await getPendingFee(world.deps, { investorLogin: INVESTOR }, aCall())).toMatchObject({
    masterLogin: undefined,
    pending: { minorUnits: 30_00n },
    debts: [{ masterLogin: MASTER, amount: { minorUnits: 30_00n } }],
    calculation: undefined,
  });
});

test("an unknown Investor and an unknown payment are refused, and so is a Master whose fees are stopped", async () => {
  await expect(getPendingFee(world.deps, { investorLogin: "404" }, aCall())).rejects.toMatchObject({
    code: "investor_not_found",
  });
  await expect(explain(404n)).rejects.toMatchObject({ code: "fee_payment_not_found" });
  await insertMaster(pool, MASTER, PAYMENT_ACCOUNT);
  await corrupt(pool, "update fee_master set break_reason = 'a break'");
  await expect(pending()).rejects.toMatchObject({ code: "safety_stop" });
});

test("flows since the fee before are shown, and what is not kept is missing", async () => {
  const flows = world.subscriptions.flows;
  flows.set(INVESTOR, { inflow: 15_000_00n, outflow: 0n });
  await week("+1000.00");
  const first = await explained();
  expect(first.flows).toMatchObject({ after: undefined, inflow: { minorUnits: 15_000_00n } });
  expect(first.lines[2]).toBe(
    "Since the first assign 15000.00 joined the pool and 0.00 left it, fees included. Deposits and withdrawals change neither the result nor the high-water mark.",
  );
  flows.set(INVESTOR, { inflow: 0n, outflow: 300_00n });
  await week("+100.00");
  expect(await explained()).toMatchObject({
    flows: { after: new Date("2026-01-10T00:00:00Z"), outflow: { minorUnits: 300_00n } },
  });
  flows.set(INVESTOR, { inflow: 0n, outflow: 0n, complete: false });
  expect(await explained()).toMatchObject({
    flows: undefined,
    missing: [{ code: "flows" }],
    calculation: { fee: "30.00" },
  });
});

test("an imported fee and one without a calculation say what is missing", async () => {
  await week("+1000.00");
  const { paymentId } = await explained();
  const missing = async () => (await explain(paymentId)).missing.map(({ code }) => code);
  await corrupt(pool, `update fee_payment set explanation = jsonb_set(explanation, '{fee}', '"299.99"')`);
  expect(await missing()).toEqual(["calculation"]);
  await corrupt(pool, "update fee_payment set suffix = 'IM1', explanation = null");
  expect(await explain(paymentId)).toMatchObject({
    calculation: undefined,
    uncollected: { minorUnits: 0n },
    missing: [{ code: "imported" }],
  });
});
