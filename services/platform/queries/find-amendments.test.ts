import { expect, test } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import { testDatabase } from "#test/support/database.ts";
import { moneyOf } from "../testing/requests.ts";
import { findAmendments } from "./find-amendments.ts";

const LOGIN = "3000001";
const SERVER = "test";

test("of each amended deal the newest amendment is found, and the amount that was booked since", async () => {
  const { pool } = await testDatabase("platform");
  await execute(
    pool,
    sql`with opened as (
          insert into account (login, role, platform_group, reads_from, log_number, log_entry_id, log_minor, managed_at)
          values (${LOGIN}, 'master', 'g', clock_timestamp(), 4, 1, 0, clock_timestamp())
        )
        insert into log_entry (login, number, kind, amount_minor, server, deal_id, deal_at, amendment, shown_as, review_id)
        values (${LOGIN}, 1, 'amendment', 0, ${SERVER}, 71, clock_timestamp(), 'deal_changed', '6.00', null),
               (${LOGIN}, 2, 'amendment', 0, ${SERVER}, 71, clock_timestamp(), 'deal_gone', 'no such deal', null),
               (${LOGIN}, 3, 'correction', -1050, null, null, clock_timestamp(), null, null, 1),
               (${LOGIN}, 4, 'amendment', 0, ${SERVER}, 72, clock_timestamp(), 'deal_cancelled', 'nothing', null)`,
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
