import { beforeEach, expect, test } from "vitest";
import { corrupt as change } from "#test/support/corrupt.ts";
import type { Finding } from "#kernel/reconcile/check.ts";
import { confirmsNothing } from "#kernel/testing/votes.ts";
import { MASTER } from "../testing/fee.ts";
import {
  anInvestor,
  aWeek,
  aWorld,
  endWeek,
  expectToReconcile,
  result,
  settle,
  passTime,
  type World,
} from "../testing/world.ts";
import { feeChecks } from "./checks.ts";

let world: World;

/** Two weeks of two Investors; one of them owes and has paid a part. */
beforeEach(async () => {
  world = await aWorld();
  await anInvestor(world, { login: "9001", deposit: "1000.00" });
  await anInvestor(world, { login: "9002", deposit: "1000.00" });
  aWeek(world, { 9001: "+100.00", 9002: "+50.00" });
  await settle(world);
  result(world, { 9001: "-20.00", 9002: "+30.00" });
  endWeek(world, { 9001: "-1.00", 9002: "0.00" });
  await settle(world);
  await expectToReconcile(world);
});

async function findings(name = "fee_payments"): Promise<Finding[]> {
  const check = feeChecks({ ...world.deps, confirm: confirmsNothing }).find((each) => each.name === name);
  return [...(await check!.run({ cursor: "", pendingBreaks: [] })).findings];
}

const corrupt = (text: string) => change(world.deps.pool, text);

test("fee_payments: a second fee of one Investor in one week is found, and a debt that differs from what earlier payments have left", async () => {
  expect(await findings()).toEqual([]);
  await corrupt(`insert into fee_payment (run_id, master_login, investor_id, investor_login, status, created_at, kind, suffix,
                                          is_weekly, payment_account_login, due_minor, owed_since, next_try_at, key, key_hash, explanation)
                 select run_id, master_login, investor_id, investor_login, 'PENDING', created_at, kind, 'W2', is_weekly,
                        payment_account_login, due_minor - 1, owed_since, next_try_at, key || '2', key_hash, explanation
                 from fee_payment where id = 1`);
  expect(await findings()).toMatchObject([{ key: "twice:4", login: "9001", masterLogin: MASTER, atRiskMinor: 29_99n }]);
  await corrupt("delete from fee_payment where id = 4");
  await corrupt("update fee_payment set amount_minor = amount_minor - 5, taken_by_id = 3 where id = 1");
  await corrupt("update fee_payment set kind = 'PF_DEBT', suffix = 'DEBT', due_minor = amount_minor where id = 3");
  expect(await findings()).toMatchObject([{ key: "debt:3", login: "9002", masterLogin: MASTER, atRiskMinor: 8_95n }]);
});

test("fee_overdue: fees pending for more than an hour are found with sum and reasons until they are collected", async () => {
  const { platform } = world;
  aWeek(world, { 9001: "+200.00", 9002: "+10.00" });
  platform.rules.isBusy = () => true;
  await settle(world);
  await corrupt("update fee_payment set created_at = clock_timestamp() where status = 'EXECUTING'");
  expect(await findings("fee_overdue")).toEqual([]);
  await corrupt("update fee_payment set created_at = created_at - interval '61 minutes' where status = 'EXECUTING'");
  expect(await findings("fee_overdue")).toMatchObject([
    { key: `waiting:${MASTER}`, login: MASTER, masterLogin: "", evidence: { reasons: ["account_busy"] } },
  ]);
  const { rows } = await world.deps.pool.query(
    "select sum(due_minor) as due from fee_payment where status = 'EXECUTING'",
  );
  expect((await findings("fee_overdue"))[0]?.atRiskMinor).toBe(BigInt(String(rows[0].due)));
  platform.rules.isBusy = () => false;
  await passTime(world);
  await settle(world);
  expect(await findings("fee_overdue")).toEqual([]);
});
