import { HOUR_MS } from "#kernel/values/duration.ts";
import { expect, test } from "vitest";
import { readDatabase } from "#kernel/postgres/database-identity.ts";
import type { InvestorTerms, TermsStep } from "#proto/pamm/fee/v1/fee.ts";
import { corrupt } from "#test/support/corrupt.ts";
import { OWED_TO } from "../testing/fee-fake.ts";
import { settle, subscribed, aPair } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { aCall, aMaster, anInvestor, aWorld, passTime, type World } from "../testing/world.ts";

const STEP: TermsStep = { from: undefined, ratePpm: 300_000, enabled: true, versionId: 1n };

/** As `fee` answers now. */
async function termsOf({ deps }: World, investorLogin: string, parts: Partial<InvestorTerms> = {}) {
  const none = { since: undefined, updatedAt: undefined, debts: [], prepaid: [], openWeekly: [] };
  const investors = [{ ...none, investorLogin, steps: [STEP], ...parts }];
  return { database: await readDatabase(deps.pool), isStopped: false, askedAt: new Date(), investors };
}

async function pendingOf(world: World, investorLogin: string, parts: Partial<InvestorTerms> = {}, withinMs = 5_000) {
  const terms = await termsOf(world, investorLogin, parts);
  const { due, explanation, ...rest } = await world.service.decidePendingFee({ terms }, aCall({ withinMs }));
  return {
    ...rest,
    due: due.map(({ kind, masterLogin, amountMinor }) => [kind, masterLogin, amountMinor]),
    facts: explanation,
  };
}

test("the share of an Investor in a floating loss is that which a week at this moment would have", async () => {
  const cutOff = new Date(Date.now() + HOUR_MS / 2);
  const world = await aWorld({ week: { anchor: cutOff, periodMs: HOUR_MS } });
  const master = aMaster(world, 0n);
  const first = await subscribed(world, master, 1_000_00n);
  const { open, float, result } = trader(world, master);
  result(300_00n);
  const position = open();
  float(position, -100_00n);
  await settle(world);
  const second = await subscribed(world, master, 500_00n);
  float(position, -250_00n, -1n);
  await settle(world);

  const pending = [await pendingOf(world, first.investorLogin), await pendingOf(world, second.investorLogin)];
  expect(pending[0]).toMatchObject({ masterLogin: master, isKnown: true, throughDealId: expect.any(BigInt) });
  expect(pending[0]?.facts).toMatchObject({ earned: "300.00", markedAt: expect.any(String), throughNumber: "1" });
  const shares = pending.map(({ facts }) => Number(facts?.floating));
  expect(shares[0]! + shares[1]!).toBeCloseTo(-250.01, 8);
  const [[, , amount] = []] = pending[0]!.due;
  expect(Number(amount) / 100).toBeCloseTo((300 + shares[0]!) * 0.3, 1);
  expect(pending[1]?.due).toEqual([]);

  world.fees.rules.ratePpm = 300_000;
  await passTime(world, HOUR_MS / 2 + 6_000);
  await settle(world);
  const due = world.fees.weeks.flatMap(({ investors }) => investors.flatMap((investor) => investor.due));
  expect(due.map((fee) => [fee.kind, fee.masterLogin, fee.amountMinor])).toEqual(pending[0]?.due);
  const facts = due[0]!.explanation;
  expect(facts).toMatchObject({ floating: pending[0]?.facts?.floating, fee: pending[0]?.facts?.fee });
});

test("a flat Master is not read, and outside a pool only debts are due", async () => {
  const { world, masterLogin: master, investorLogin } = await aPair(1_000_00n);
  const { dealId } = trader(world, master).result(30_00n);
  await settle(world);
  world.platform.state.isDown = true;
  const debts = [{ masterLogin: OWED_TO, amountMinor: 7_00n, since: new Date("2026-01-01") }];
  const flat = await pendingOf(world, investorLogin, { debts });
  expect(flat).toMatchObject({
    masterLogin: master,
    throughDealId: dealId,
    facts: { floating: "0.00", markedAt: undefined },
  });
  expect(flat.due).toEqual([
    ["PF_DEBT", OWED_TO, 7_00n],
    ["PF", master, 9_00n],
  ]);
  const prepaid = [{ masterLogin: master, amountMinor: 4_00n, since: undefined }];
  const { totalMinor, due } = await pendingOf(world, investorLogin, { debts, prepaid });
  expect({ totalMinor, due }).toEqual({ totalMinor: 12_00n, due: flat.due });
  const outside = { masterLogin: undefined, throughDealId: 0n, facts: undefined };
  const stranger = anInvestor(world, 1_00n);
  expect(await pendingOf(world, stranger)).toMatchObject({ ...outside, due: [], isKnown: false });
  await settle(world);
  expect(await pendingOf(world, stranger, { debts })).toMatchObject({ ...outside, isKnown: true });
  expect((await pendingOf(world, stranger, { debts })).due).toEqual([["PF_DEBT", OWED_TO, 7_00n]]);
});

test("nothing is decided before the newest version was made, and nothing at all while fees are switched off", async () => {
  const { world, masterLogin: master, investorLogin } = await aPair(1_000_00n);
  trader(world, master).result(30_00n);
  await settle(world);
  const updatedAt = new Date(Date.now() + HOUR_MS);
  const steps = [STEP, { ...STEP, from: updatedAt, ratePpm: 0, enabled: false, versionId: 2n }];
  const off = await pendingOf(world, investorLogin, { steps, updatedAt });
  expect(off).toMatchObject({ at: updatedAt, due: [], facts: undefined });
  expect((await pendingOf(world, investorLogin, { steps })).due).toEqual([["PF", master, 9_00n]]);
});

test("deals that are not in the books are waited for, and refused when that takes longer than the call", async () => {
  const { world, masterLogin: master, investorLogin } = await aPair(1_000_00n);
  const { open, float, close } = trader(world, master);
  const position = open();
  float(position, -100_00n);
  await settle(world);
  open();
  const waiting = pendingOf(world, investorLogin);
  await settle(world);
  expect(await waiting).toMatchObject({ facts: { floating: "-100.00" } });
  close(position, { profit: -100_00n });
  await expect(pendingOf(world, investorLogin, {}, 700)).rejects.toMatchObject({
    code: "allocation_in_progress",
    outcome: "not_executed",
  });
});

test("a closed week that is still to be decided, or to be recorded, is waited for", async () => {
  const { world, masterLogin: master, investorLogin, id } = await aPair(1_000_00n);
  const { pool } = world.deps;
  trader(world, master).result(1n);
  await settle(world);
  await corrupt(pool, `insert into open_week (master_login, number) values ('${master}', 1)`);
  const refusal = { code: "allocation_in_progress", outcome: "not_executed" };
  await expect(pendingOf(world, investorLogin, {}, 700)).rejects.toMatchObject(refusal);
  const waiting = pendingOf(world, investorLogin);
  await corrupt(pool, `update open_week set decided_subscription_id = ${id}`);
  expect(await waiting).toMatchObject({ due: [] });

  const decided = `insert into fee_decision (id, master_login, departure_key, investor_login, period_start, period_end, is_last)
    overriding system value values (1, '${master}', '', '', now() - interval '1 h', now(), true)`;
  const due = `insert into due_fee values (1, 1, '${investorLogin}', 'fee:1', 'PF', 'W', '${master}', 1, now(), '{}')`;
  await corrupt(pool, decided);
  await corrupt(pool, due);
  await expect(pendingOf(world, investorLogin, {}, 700)).rejects.toMatchObject(refusal);
  const before = await termsOf(world, investorLogin);
  await corrupt(pool, "update fee_decision set recorded_at = clock_timestamp()");
  // It is in no answer that was asked for before: neither service would count it.
  const stale = world.service.decidePendingFee({ terms: before }, aCall({ withinMs: 700 }));
  await expect(stale).rejects.toMatchObject(refusal);
  expect(await pendingOf(world, investorLogin)).toMatchObject({ due: [] });
});

test("terms that are known in another database are not decided on", async () => {
  const { world, investorLogin } = await aPair(1_000_00n);
  await settle(world);
  const terms = { ...(await termsOf(world, investorLogin)), database: "another" };
  await expect(world.service.decidePendingFee({ terms }, aCall({ withinMs: 700 }))).rejects.toMatchObject({
    code: "allocation_in_progress",
  });
});

test("a stopped Master has no pending fee to show", async () => {
  const { world, investorLogin } = await aPair(1_000_00n);
  await corrupt(world.deps.pool, "update master_pool set stopped_reason = 'test'");
  await expect(pendingOf(world, investorLogin)).rejects.toMatchObject({ code: "safety_stop" });
});
