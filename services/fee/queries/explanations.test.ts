import { beforeEach, expect, test } from "vitest";
import { corrupt } from "#test/support/corrupt.ts";
import { testDatabase } from "#test/support/database.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { setBalance } from "#test/support/platform-fake/ledger.ts";
import type { DecidedFee, PaymentExplanation, WantedTerms } from "#proto/pamm/fee/v1/fee.ts";
import { updateConfiguration } from "../commands/configure.ts";
import { recordFees } from "../commands/record-fees.ts";
import { addPrepaid } from "../store/debts.ts";
import { insertMaster } from "../store/masters.ts";
import { anExplanation, type ExplainedFee } from "../testing/an-explanation.ts";
import { aCall, INVESTOR, MASTER, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import { formatMinor } from "#kernel/values/money.ts";
import { aWeek, anInvestor, aWorld, owe, settle, type World } from "../testing/world.ts";
import { explainPayment } from "./explain-payment.ts";
import { getPendingFee } from "./get-pending-fee.ts";

const { pool } = await testDatabase("fee");
const START = new Date("2026-01-03T00:00:00Z");
const CUT_OFF = new Date("2026-01-10T00:00:00Z");
const EARNED_AT = new Date("2026-01-03T01:00:00Z");
let world: World;

beforeEach(async () => {
  world = await aWorld(pool);
  await anInvestor(world, { deposit: "10000.00" });
});

const explain = (paymentId: bigint) => explainPayment(world.deps, { paymentId }, aCall());

/** The newest payment. */
async function explained(): Promise<PaymentExplanation> {
  const [row] = await many<{ id: bigint }>(pool, sql`select max(id) as id from fee_payment`);
  return await explain(row!.id);
}

function amountsOf({ due, prepaid, amount, uncollected }: PaymentExplanation): string[] {
  return [due, prepaid, amount, uncollected].map((money) => formatMinor(money!.minorUnits));
}

/** 1,000.00 of profit at 30 %, if nothing else is said. */
function aFee({ suffix = "W", ...parts }: Partial<ExplainedFee> & { suffix?: string } = {}): DecidedFee {
  const profit = { at: CUT_OFF, earned: 1_000_00n, charged: [{ amount: 1_000_00n, from: EARNED_AT }] };
  const explanation = anExplanation({ ...profit, ...parts });
  const amountMinor = BigInt(explanation.fee.replace(".", ""));
  return { key: suffix, kind: "PF", suffix, masterLogin: MASTER, amountMinor, since: CUT_OFF, explanation };
}

/** Subscription has decided a fee, which is collected. */
async function charge(fee = aFee()): Promise<PaymentExplanation> {
  const run = { masterLogin: MASTER, key: "", periodStart: START, periodEnd: CUT_OFF };
  const investors = [{ investorLogin: INVESTOR, due: [fee], openWeeklyKeys: [] }];
  await recordFees(world.deps, { ...run, isLast: true, investors }, aCall());
  await settle(world);
  return await explained();
}

async function configure(change: { ratePpm?: number; enabled?: boolean; effectiveSince?: Date }, key: string) {
  world.clock.now = new Date(world.clock.now.getTime() + 30 * 60_000);
  const whole = { ratePpm: undefined, enabled: undefined, effectiveSince: undefined, upsert: true, ...change };
  await updateConfiguration(world.deps, { investorLogin: INVESTOR, ...whole }, aCall(key));
}

const pending = () => getPendingFee(world.deps, { investorLogin: INVESTOR }, aCall());

test("the explanation of a fee ties to its payment, also after the rates of the past have changed", async () => {
  world.subscriptions.flows = { throughDealId: 7_001n, throughDealAt: EARNED_AT };
  const first = await charge();
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
  await configure({ ratePpm: 100_000, effectiveSince: START }, "past");
  expect(await explain(first.paymentId)).toEqual(first);
  expect((await charge(aFee({ suffix: "WD1" }))).lines[0]).toBe(
    `Performance fee at a withdrawal of Investor ${INVESTOR} to Master ${MASTER}.`,
  );
});

test("a fee that was collected in part names the debt, and the payment of the debt names the fees that it comes from", async () => {
  setBalance(world.platform.ledger, INVESTOR, 100_00n);
  const fee = await charge();
  expect(amountsOf(fee)).toEqual(["300.00", "0.00", "100.00", "200.00"]);
  expect(fee.lines.slice(-1)).toEqual(["200.00 could not be collected and became debt."]);

  setBalance(world.platform.ledger, INVESTOR, 150_00n);
  aWeek(world, { [INVESTOR]: "0.00" });
  await settle(world);
  const debt = await explained();
  expect(debt).toMatchObject({
    kind: "PF_DEBT",
    calculation: undefined,
    missing: [],
    debtParts: [{ paymentId: fee.paymentId, amount: { minorUnits: 200_00n } }],
  });
  expect(debt.lines).toContain(`200.00 of it is of payment ${fee.paymentId}, owed since 2026-01-10 00:00:00 UTC.`);
  // Parts that are not the whole debt are shown with that.
  await corrupt(pool, "update fee_payment set taken_by_id = null");
  expect(await explain(debt.paymentId)).toMatchObject({ missing: [{ code: "debt_parts" }] });
});

test("what subscription decides now, on the terms and with what was prepaid, is pending, and nothing is recorded", async () => {
  await insertMaster(pool, MASTER, PAYMENT_ACCOUNT);
  await owe(pool, INVESTOR, MASTER);
  await inTransaction(pool, (tx) =>
    addPrepaid(tx, { investorLogin: INVESTOR, masterLogin: MASTER, amountMinor: 10_00n }),
  );
  const { explanation, ...fee } = aFee({ floating: -1n, spared: [{ amount: 1n, from: EARNED_AT }], earned: 1_000_01n });
  const debt = { ...fee, kind: "PF_DEBT", amountMinor: 30_00n, explanation: undefined };
  const due = [debt, { ...fee, explanation }];
  const asked: (WantedTerms | undefined)[] = [];
  const decidePendingFee: World["deps"]["subscriptions"]["decidePendingFee"] = async ({ terms }, context) => {
    asked.push(...(terms?.investors ?? []));
    return await world.subscriptions.client.decidePendingFee({ terms }, context);
  };
  const deps = { ...world.deps, subscriptions: { ...world.deps.subscriptions, decidePendingFee } };
  world.subscriptions.pending = { masterLogin: MASTER, due, explanation, isKnown: true, totalMinor: 320_00n };
  const before = await many(pool, sql`select * from fee_payment`);
  const answer = await getPendingFee(deps, { investorLogin: INVESTOR }, aCall());
  expect(await many(pool, sql`select * from fee_payment`)).toEqual(before);
  const amounts = [answer.pending, answer.fee, answer.debt, answer.prepaid, answer.openWeekly];
  expect(amounts.map((money) => formatMinor(money!.minorUnits))).toEqual([
    "320.00",
    "300.00",
    "30.00",
    "10.00",
    "0.00",
  ]);
  expect(answer).toMatchObject({
    masterLogin: MASTER,
    enabled: true,
    calculation: { fee: "300.00", floating: "-0.01" },
    debts: [{ masterLogin: MASTER, amount: { minorUnits: 30_00n } }],
  });
  expect(asked).toMatchObject([
    { investorLogin: INVESTOR, debts: [{ amountMinor: 30_00n }], prepaid: [{ amountMinor: 10_00n }] },
  ]);
});

test("while fees are switched off nothing is pending, and outside a pool only debts are", async () => {
  await configure({ enabled: false }, "off");
  world.subscriptions.pending = { masterLogin: MASTER, isKnown: true };
  expect(await pending()).toMatchObject({
    enabled: false,
    pending: { minorUnits: 0n },
    calculation: undefined,
    lines: ["Fees are switched off: nothing is collected, debts included."],
  });
  await configure({ enabled: true }, "on");
  await insertMaster(pool, MASTER, PAYMENT_ACCOUNT);
  await owe(pool, INVESTOR, MASTER);
  const debt = { ...aFee(), kind: "PF_DEBT", amountMinor: 30_00n };
  world.subscriptions.pending = { due: [debt], totalMinor: 30_00n };
  expect(await pending()).toMatchObject({
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
  world.subscriptions.pending = { masterLogin: MASTER };
  await expect(pending()).rejects.toMatchObject({ code: "safety_stop" });
});

test("flows since the fee before are shown, and what is not kept is missing", async () => {
  const usd = (minorUnits: bigint) => ({ currencyCode: "USD", minorUnits });
  world.subscriptions.flows = { inflow: usd(15_000_00n), outflow: usd(300_00n) };
  const first = await charge();
  expect(first.flows).toMatchObject({ after: undefined, inflow: usd(15_000_00n), outflow: usd(300_00n) });
  expect(first.lines[2]).toBe(
    "Since the first assign 15000.00 joined the pool and 300.00 left it, fees included. Deposits and withdrawals change neither the result nor the high-water mark.",
  );
  expect((await charge(aFee({ suffix: "WD1", since: CUT_OFF }))).flows).toMatchObject({ after: CUT_OFF });
  world.subscriptions.flows = { complete: false };
  expect(await explained()).toMatchObject({
    flows: undefined,
    missing: [{ code: "flows" }],
    calculation: { fee: "300.00" },
  });
});

test("an imported fee and one without a calculation say what is missing", async () => {
  const { paymentId } = await charge();
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
