import { beforeEach, expect, test } from "vitest";
import type { Finding } from "#kernel/reconcile/check.ts";
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

test("cashflow_completeness: a thousand cashflows at most are compared with one call", async () => {
  await corrupt(`insert into cashflow (operation_id, action, login, amount_minor, comment, state, refusal, deadline,
                                       created_at, finished_at, next_try_at, first_deposit_checked, min_deposit_minor)
                 select 'many:' || number, 'deposit', '${INVESTOR}', 100, '', 'REFUSED', '{}', now(), now(), now(), now(), false, 0
                 from generate_series(1, 1300) as number`);
  const asked: number[] = [];
  const readTransfers: World["platform"]["readTransfers"] = (request, context) => {
    asked.push(request.keys.length);
    return funding.platform.readTransfers(request, context);
  };
  const check = completeness({ ...funding, platform: { ...funding.platform, readTransfers } });
  expect((await check.run({ cursor: "", pendingBreaks: [] })).findings).toEqual([]);
  expect(asked).toEqual([1_000, 303]);
});

test("cashflow_completeness: a payout of more than requested, of another deal or of another account is found", async () => {
  for (const [change, back] of [
    ["amount_minor = amount_minor - 1", "amount_minor = amount_minor + 1"],
    ["deal_id = deal_id + 1", "deal_id = deal_id - 1"],
    ["deal_id = null", "deal_id = 900003"],
    ["login = '77'", `login = '${INVESTOR}'`],
  ]) {
    await corrupt(`update cashflow set ${change} where id = 2`);
    expect(await findings()).toMatchObject([
      {
        key: "cashflow:2",
        login: change?.startsWith("login") === true ? "77" : INVESTOR,
        operationIds: ["0199aaaa-0000-7000-8000-000000000002"],
        message: expect.stringMatching(/differs from the transfer that the platform recorded|no money moved/),
      },
    ]);
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

test("cashflow_completeness: a withdrawal of 0.00 is finished without a transfer", async () => {
  await fundingService(funding).withdraw(cashflow(70_00n), aCall("0199aaaa-0000-7000-8000-000000000004"));
  await fundingService(funding).withdraw(cashflow(1_00n), aCall("0199aaaa-0000-7000-8000-000000000005"));
  const { rows } = await funding.pool.query("select state, deal_id from cashflow order by id desc limit 1");
  expect(rows).toEqual([{ state: "POSTED", deal_id: null }]);
  expect(await findings()).toEqual([]);
});

test("the legs of deposits are found by their keys as they were requested, no other key is, and too many are refused", async () => {
  const find = (keys: string[]) => fundingService(funding).findTransfers({ keys }, aCall("check"));
  const [deposited, withdrawn] = [1, 2].map((number) => `0199aaaa-0000-7000-8000-00000000000${number}`);
  const keys = [`funding:deposit:${deposited}`, "funding:deposit:op-3", `withdrawal:${withdrawn}`, `fee:${deposited}`];
  expect((await find([...keys, `funding:deposit:${withdrawn}`])).legs).toEqual([
    { key: keys[0], login: INVESTOR, kind: "deposit", amount: usd(100_00n) },
  ]);
  for (const wrong of [[], Array.from({ length: 1_001 }, (_, index) => `funding:deposit:${index}`)]) {
    await expect(find(wrong)).rejects.toMatchObject({ code: "validation_failed" });
  }
});
