import { expect } from "vitest";
import { column, sql } from "#kernel/postgres/query.ts";
import { confirmsNothing } from "#kernel/testing/votes.ts";
import { feeChecks } from "../checks/checks.ts";
import { PAYMENT_ACCOUNT } from "./fee.ts";
import { balanceOf, type World } from "./world.ts";
import { cents } from "#kernel/testing/cents.ts";

/** The checks find nothing, and what was paid is on the payment account. */
export async function expectToTie(world: World): Promise<void> {
  for (const check of feeChecks({ ...world.deps, confirm: confirmsNothing })) {
    expect((await check.run({ cursor: "", pendingBreaks: [] })).findings, check.name).toEqual([]);
  }
  const paid = await column<bigint>(
    world.deps.pool,
    sql`select coalesce(sum(amount_minor), 0)::bigint from fee_payment where status = 'EXECUTED' and payment_account_login = ${PAYMENT_ACCOUNT}`,
  );
  expect(paid).toEqual([cents(balanceOf(world, PAYMENT_ACCOUNT))]);
}
