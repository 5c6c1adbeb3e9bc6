import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import type { Deal } from "../../mt5/deals.ts";
import { setUndecidedFrom } from "../../store/accounts.ts";
import { aManagedLogin } from "../../testing/rows.ts";
import { LoginSignals } from "../turn-queue.ts";
import { fileDeals } from "./file-deals.ts";

const MINUTE_MS = 60_000;

test("a history that begins after an undecided deal is not filed: log positions follow the order of the history", async () => {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1", { role: "master" });
  const undecided = new Date(Date.now() + MINUTE_MS);
  const later = new Date(undecided.getTime() + MINUTE_MS);
  await inTransaction(pool, (tx) => setUndecidedFrom(tx, "1", undecided));
  const file = async (from: Date) => {
    await fileDeals({ pool, settings: { server: "test" }, loginSignals: new LoginSignals() }, "1", {
      from,
      deals: [aExternalDeal(later)],
    });
    return await many(pool, sql`select deal_id as deal from log_entry where number > 0`);
  };

  expect(await file(new Date(undecided.getTime() + 1))).toEqual([]);
  expect(await file(undecided)).toEqual([{ deal: 77n }]);
});

function aExternalDeal(at: Date): Deal {
  const nothing = { entry: 0, order: 0n, position: 0n, symbol: "", volume: 0n, volumeClosed: 0n, price: "0" };
  const money = { profitMinor: 5n, swapMinor: 0n, commissionMinor: 0n, feeMinor: 0n };
  const serverTimeMs = at.getTime();
  return { ticket: 77n, login: "1", action: 2, ...nothing, ...money, comment: "", dealer: "", serverTimeMs, at };
}
