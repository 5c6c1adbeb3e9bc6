import { expect, test } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import { testDatabase } from "#test/support/database.ts";
import { type Calendar, calendarOf, daysOf, UTC } from "#kernel/time-zone.ts";
import { listCreditedDays } from "./payments.ts";

test("credits are summed by day of the deal, in UTC or of the trade server, in a half-open period", async () => {
  const { pool } = await testDatabase("fee");
  const at = (text: string) => new Date(`2026-01-${text}Z`);
  for (const [index, time] of ["02T23:59:59.999", "03T00:00:00", "03T12:00:00", "04T00:00:00"].entries()) {
    await execute(
      pool,
      sql`insert into payment_credit (master_login, payment_account_login, kind, amount_minor, deal_id, deal_at, unique_key, created_at)
          values ('1', '11', 'PF', ${100 + index}, ${index}, ${at(time)}, ${String(index)}, now())`,
    );
  }

  const list = (calendar: Calendar, from: string, to: string) =>
    listCreditedDays(pool, "1", daysOf(calendar, at(from), at(to)));
  expect(await list(calendarOf("Europe/Athens"), "02T22:00:00", "03T22:00:00")).toEqual([
    { day: "2026-01-03", amount: 303n },
  ]);
  expect(await list(UTC, "02T00:00:00", "04T00:00:00")).toEqual([
    { day: "2026-01-02", amount: 100n },
    { day: "2026-01-03", amount: 203n },
  ]);
});
