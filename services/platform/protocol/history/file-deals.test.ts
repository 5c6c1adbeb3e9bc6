import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import { setUndecidedFrom } from "../../store/accounts.ts";
import { aDeal } from "../../testing/deals.ts";
import { aManagedLogin } from "../../testing/rows.ts";
import { LoginSignals } from "../login-signals.ts";
import { fileDeals } from "./file-deals.ts";

const MINUTE_MS = 60_000;

test("a history that begins after an undecided deal is not filed: log positions follow the order of the history", async () => {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1", { role: "master" });
  const undecided = new Date(Date.now() + MINUTE_MS);
  const later = new Date(undecided.getTime() + MINUTE_MS);
  await inTransaction(pool, (tx) => setUndecidedFrom(tx, "1", undecided));
  const file = async (from: Date) => {
    await fileDeals(
      { pool, settings: { server: "test", results: { actions: [], comments: [] } }, loginSignals: new LoginSignals() },
      {
        from,
        deals: new Map([["1", [aDeal({ login: "1", ticket: 77n, at: later })]]]),
      },
    );
    return await many(pool, sql`select deal_id as deal from log_entry where number > 0`);
  };

  expect(await file(new Date(undecided.getTime() + 1))).toEqual([]);
  expect(await file(undecided)).toEqual([{ deal: 77n }]);
});
