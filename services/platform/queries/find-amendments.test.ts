import { expect, test } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import { testDatabase } from "#test/support/database.ts";
import { moneyOf } from "../testing/requests.ts";
import { findAmendments } from "./find-amendments.ts";

const LOGIN = "3000001";
const SERVER = "test";

test("of each amended deal the newest amendment is found, and the sum of what was booked because of it", async () => {
  const { pool } = await testDatabase("platform");
  await execute(
    pool,
    sql`with opened as (
          insert into account (login, role, platform_group, reads_from, log_number, log_entry_id, log_minor, managed_at)
          values (${LOGIN}, 'master', 'g', clock_timestamp(), 4, 1, 0, clock_timestamp())
        )
        insert into log_entry (login, number, kind, amount_minor, server, deal_id, corrected_deal_id, deal_at, amendment, deal_state)
        values (${LOGIN}, 1, 'amendment', 0, ${SERVER}, 71, null, clock_timestamp(), 'deal_changed', 0),
               (${LOGIN}, 2, 'correction', -1050, ${SERVER}, null, 71, clock_timestamp(), 'deal_changed', 1),
               (${LOGIN}, 3, 'amendment', 0, ${SERVER}, 71, null, clock_timestamp(), 'deal_gone', 1),
               (${LOGIN}, 4, 'amendment', 0, ${SERVER}, 72, null, clock_timestamp(), 'deal_cancelled', 0)`,
  );
  const find = (dealIds: bigint[]) =>
    findAmendments({ pool, settings: { server: SERVER } as never }, { login: LOGIN, dealIds });

  const { amendments } = await find([70n, 71n, 72n]);
  expect(amendments).toMatchObject([
    { dealId: 71n, reason: "deal_gone", corrected: moneyOf(-10_50n) },
    { dealId: 72n, reason: "deal_cancelled", corrected: undefined },
  ]);
  await expect(find([])).rejects.toMatchObject({ code: "validation_failed" });
});
