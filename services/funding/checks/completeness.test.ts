import { beforeEach, expect, test } from "vitest";
import type { Finding } from "#kernel/reconcile/check.ts";
import { runCheck } from "#kernel/reconcile/run-check.ts";
import { insertChecks, listChecks } from "#kernel/reconcile/store.ts";
import { settledCursor } from "#kernel/testing/walk.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import { fundingService } from "../service.ts";
import { aCall, INVESTOR, usd, world, type World } from "../testing/funding.ts";
import { completeness } from "./completeness.ts";

let funding: World;

/** A deposit, a withdrawal of a part, and one that the platform refused. */
beforeEach(async () => {
  funding = await world();
  const service = fundingService(funding);
  await service.deposit(cashflow(100_00n), aCall("0199aaaa-0000-7000-8000-000000000001"));
  await service.withdraw(cashflow(30_00n), aCall("0199aaaa-0000-7000-8000-000000000002"));
  funding.platform.faults.transfer.push("insufficient_funds");
  await service.deposit(cashflow(5_00n), aCall("0199aaaa-0000-7000-8000-000000000003")).catch(() => undefined);
});

function cashflow(minor: bigint) {
  return { login: INVESTOR, amount: usd(minor), comment: "", client: undefined, idempotencyKey: undefined };
}

async function findings(): Promise<Finding[]> {
  const check = completeness(funding);
  return [...(await check.run({ cursor: "", pendingBreaks: [] })).findings];
}

const corrupt = (text: string) => funding.pool.query(text);

test("cashflow_completeness: outcomes that equal platform's record have no break, and a corrupted row is one until it is corrected", async () => {
  const { pool, log } = funding;
  const check = completeness(funding);
  await insertChecks(pool, [check]);
  const breaks = async () => {
    await runCheck({ pool, log }, check, undefined);
    return await listBreaks(pool, { afterId: 0n, limit: 10, withoutChecks: false });
  };
  expect(await breaks()).toMatchObject({ items: [] });
  await corrupt("update cashflow set deal_id = deal_id + 1 where id = 1");
  expect((await breaks()).items).toMatchObject([
    {
      key: "cashflow:1",
      login: INVESTOR,
      atRisk: usd(100_00n),
      operationIds: ["0199aaaa-0000-7000-8000-000000000001"],
      message: expect.stringContaining("differs from the transfer that the platform recorded"),
    },
  ]);
  await corrupt("update cashflow set deal_id = deal_id - 1 where id = 1");
  expect(await breaks()).toMatchObject({ items: [] });
  expect(await listChecks(pool)).toMatchObject([{ name: "cashflow_completeness", openBreaks: 0, error: "" }]);
});

test("cashflow_completeness: a payout of more than requested, of another deal or of another account is found", async () => {
  for (const [change, back] of [
    ["amount_minor = amount_minor - 1", "amount_minor = amount_minor + 1"],
    ["deal_id = deal_id + 1", "deal_id = deal_id - 1"],
    ["deal_id = null", "deal_id = 900003"],
    ["login = '77'", `login = '${INVESTOR}'`],
  ]) {
    await corrupt(`update cashflow set ${change} where id = 2`);
    expect((await findings()).map(({ key }) => key)).toEqual(["cashflow:2"]);
    await corrupt(`update cashflow set ${back} where id = 2`);
  }
  // How much was available is known to subscription alone.
  await corrupt("update cashflow set amount_minor = amount_minor + 1 where id = 2");
  expect(await findings()).toEqual([]);
});

test("cashflow_completeness: a refusal of an executed transfer is found", async () => {
  await corrupt(
    `update cashflow set state = 'REFUSED', deal_id = null, refusal = '{"code":"absent","status":"unavailable","message":"no"}' where id = 1`,
  );
  expect(await findings()).toMatchObject([{ key: "cashflow:1", message: expect.stringContaining("no money moved") }]);
});

test("cashflow_completeness: an execution without a transfer of the platform service is found", async () => {
  await corrupt("update cashflow set operation_id = 'forgotten' where id = 1");
  expect(await findings()).toMatchObject([
    { key: "cashflow:1", message: expect.stringContaining("the platform has no such transfer"), atRiskMinor: 100_00n },
  ]);
});

test("cashflow_completeness: a request that is unfinished ten minutes after its deadline is found", async () => {
  await corrupt("update cashflow set state = 'RECORDED', deal_id = null, finished_at = null where id = 1");
  expect(await findings()).toEqual([]);
  await corrupt("update cashflow set deadline = deadline - interval '11 minutes' where id = 1");
  expect(await findings()).toMatchObject([{ key: "cashflow:1", atRiskMinor: 100_00n }]);
});

test("cashflow_completeness: a withdrawal that waits is unfinished ten minutes after its expiry", async () => {
  await corrupt(`
    update cashflow
    set state = 'RECORDED', deal_id = null, finished_at = null, deadline = deadline - interval '11 minutes',
        queue_state = 'WAITING', queue_until = now()
    where id = 2`);
  expect(await findings()).toEqual([]);
  await corrupt("update cashflow set queue_until = queue_until - interval '11 minutes'");
  expect(await findings()).toMatchObject([{ key: "cashflow:2" }]);
});

test("cashflow_completeness: a run without an answer of the platform service fails", async () => {
  const { pool, log } = funding;
  const check = completeness({
    ...funding,
    platform: { ...funding.platform, readTransfers: () => Promise.reject(new Error("unavailable")) },
  });
  await insertChecks(pool, [check]);
  await runCheck({ pool, log }, check, undefined);
  expect(await listChecks(pool)).toMatchObject([{ completedAt: null, error: expect.stringContaining("failed") }]);
});

test("cashflow_completeness: a withdrawal of 0.00 is finished without a transfer", async () => {
  await fundingService(funding).withdraw(cashflow(70_00n), aCall("0199aaaa-0000-7000-8000-000000000004"));
  await fundingService(funding).withdraw(cashflow(1_00n), aCall("0199aaaa-0000-7000-8000-000000000005"));
  const { rows } = await funding.pool.query("select state, deal_id from cashflow order by id desc limit 1");
  expect(rows).toEqual([{ state: "POSTED", deal_id: null }]);
  expect(await findings()).toEqual([]);
});

test("cashflow_completeness: new cashflows are compared in sets, by one run each, and unfinished ones until they end", async () => {
  const asked: string[][] = [];
  const readTransfers: World["platform"]["readTransfers"] = (request, context) => {
    asked.push(request.keys);
    return funding.platform.readTransfers(request, context);
  };
  const check = completeness({ ...funding, platform: { ...funding.platform, readTransfers } });
  let cursor = "";
  /** The numbers of keys of each call. */
  const run = async (): Promise<number[]> => {
    asked.length = 0;
    cursor = (await check.run({ cursor, pendingBreaks: [] })).nextCursor;
    return asked.map((keys) => keys.length);
  };
  // More than a slice, so that the pass through all rows is far from the new ones.
  await addRefused(20_000, "early-");
  for (let count = 0; count < 3; count += 1) {
    await run();
    cursor = settledCursor(cursor);
  }

  await corrupt("update cashflow set state = 'RECORDED', deal_id = null, finished_at = null where id = 1");
  await addRefused(1_300, "late-");
  await run();
  const keys = asked.flat().filter((key) => key.includes("late-"));
  expect([keys.length, new Set(keys).size]).toEqual([1_300, 1_300]);
  expect(asked.length).toBe(2);
  for (let count = 0; count < 2; count += 1) {
    cursor = settledCursor(cursor);
    await run();
  }
  expect(asked.flat().filter((key) => key.includes("late-"))).toEqual([]);
});

function addRefused(count: number, prefix: string) {
  return corrupt(`insert into cashflow (operation_id, action, login, amount_minor, currency, comment, state, refusal, deadline,
                                        created_at, finished_at, next_try_at, first_deposit_checked, min_deposit_minor)
                  select '${prefix}' || number, 'deposit', '${INVESTOR}', 100, 'USD', '', 'REFUSED', '{}', now(), now(), now(), now(), false, 0
                  from generate_series(1, ${count}) as number`);
}
