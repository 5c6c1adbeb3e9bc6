import { expect, test } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { asOwner } from "#test/support/as-owner.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { feeDeps, INVESTOR, MASTER, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import { listKeysOfItem } from "./crystallisations.ts";

const PAYMENTS = 5_000;

test("the decision that a fee was collected for is found by its key alone, however many there are; a weekly fee may have several", async () => {
  const { pool } = await feeDeps(() => new Date());
  await pool.query(`
    insert into fee_run (kind, master_login, status, period_start, period_end, open_count, created_at)
    values ('WEEKLY', '${MASTER}', 'EXECUTED', '2026-01-03', '2026-01-10', 0, '2026-01-10');
    insert into fee_payment
      (run_id, master_login, investor_id, investor_login, due_minor, status, created_at, kind, suffix, is_weekly, payment_account_login,
       owed_since, next_try_at, key, key_hash, explanation)
    select 1, '${MASTER}', 17, '${INVESTOR}', 1, 'DEFERRED', now(), 'PF', 'W' || n, true, '${PAYMENT_ACCOUNT}', now(), now(),
           'fee:' || n, '', '{}'
    from generate_series(1, ${PAYMENTS}) n;
    insert into crystallisation (key, investor_login, master_login, subscription_id, through_number, decided_for, pending_minor, created_at)
    select 'withdrawal:' || n, '${INVESTOR}', '${MASTER}', 1, 0, now(), 0, now() from generate_series(1, ${PAYMENTS}) n;
    insert into crystallisation_item (key, item_number, payment_id, amount_minor)
    select 'withdrawal:' || id, 1, id, 1 from fee_payment;
    insert into crystallisation_item (key, item_number, payment_id, amount_minor) values ('withdrawal:9', 2, 7, 1)`);
  await asOwner(pool, "fee", "analyze fee_payment, crystallisation_item");
  const read = await inTransaction(pool, (tx) =>
    rowsRead(tx, ["fee_payment", "crystallisation_item"], async () => {
      expect(await listKeysOfItem(tx, "fee:4900", 10)).toEqual(["withdrawal:4900"]);
      expect(await listKeysOfItem(tx, "fee:7", 10)).toEqual(["withdrawal:7", "withdrawal:9"]);
      expect(await listKeysOfItem(tx, "fee:7", 1)).toHaveLength(1);
      expect(await listKeysOfItem(tx, "fee:0", 10)).toEqual([]);
    }),
  );

  expect(read).toBeLessThan(15);
});
