import assert from "node:assert/strict";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { getAccount } from "#test/support/platform-fake/ledger.ts";
import { pools } from "../checks/pools.ts";
import type { World } from "./world.ts";

type Account = { readonly login: string; readonly filed: bigint; readonly posted: bigint };

/**
 * Each cent is in exactly one bucket at the filed log positions, as the reconciliation check finds it. What was posted is what was allocated
 * and compensated less what is unposted, and own capital is what was moved, earned and raised.
 */
export async function expectBooksToReconcile({ deps: { pool }, platform }: World): Promise<void> {
  if (!platform.state.isDown) {
    const { findings } = await pools({ pool, platform: platform.client }).run({ cursor: "", pendingBreaks: [] });
    assert.deepEqual(findings, []);
  }
  const accounts = await many<Account>(
    pool,
    sql`select login, filed_number as filed,
               (coalesce((select sum(amount_minor) from allocation_row join holding using (subscription_id) where investor_login = login), 0)
                + coalesce((select sum(amount_minor) from compensation join holding using (subscription_id) where investor_login = login), 0)
                + coalesce((select sum(outside_minor) from lost_result where lost_result.login = investor_account.login), 0)
                - unposted_minor)::bigint as posted
        from investor_account`,
  );
  for (const { login, filed, posted } of accounts) {
    const logged = getAccount(platform.ledger, login)
      .log.filter(({ number, kind }) => number <= filed && kind === MovementKind.RESULT)
      .reduce((total, { amount }) => total + (amount?.minorUnits ?? 0n), 0n);
    assert.equal(posted, logged, `what was posted to ${login} is not what was allocated`);
  }
  const emptied = sql`
    select id from subscription join holding on subscription_id = id
    where status = 'PAUSED' and inbound_minor = 0 and waiting_minor = 0 and pooled_minor = 0 and reserved_minor = 0 and outbound_minor = 0`;
  assert.deepEqual(await many(pool, emptied), [], "what takes the last cent of a PAUSED subscription cancels it");
  const unexplained = sql`
    select login from master_pool
    where own_pooled_minor + own_waiting_minor <> external_minor
          + (select coalesce(sum(own_minor + raised_minor), 0) from allocation_entry where master_login = login)
          - (select coalesce(sum(compensation.amount_minor), 0) from compensation join holding using (subscription_id)
             where holding.master_login = login and case_id is null)`;
  assert.deepEqual(await many(pool, unexplained), [], "own capital is not what was moved, earned and raised");
}
