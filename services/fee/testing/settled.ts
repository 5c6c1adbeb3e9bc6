import type { Pool } from "#kernel/postgres/pool.ts";
import { MASTER, PAYMENT_ACCOUNT } from "./fee.ts";

/**
 * Payments to the first Master that were executed or deferred: of each row of the query run, Investor, suffix, cents, whether it was executed, and when;
 * its number is the id of the credit, and with 40, 600 and 700 that of transfer, debit and credit.
 */
export async function insertSettled(pool: Pool, query: string): Promise<void> {
  await pool.query(`
    insert into fee_payment
      (run_id, master_login, payment_account_login, investor_id, investor_login, kind, suffix, is_weekly, due_minor, owed_since, next_try_at,
       explanation, key, key_hash, created_at, status, amount_minor, transfer_id, deal_id, executed_at, credit_id, credit_deal_id, credited_at)
    select run, '${MASTER}', '${PAYMENT_ACCOUNT}', 17, investor, 'PF', suffix, true, minor, at, at, '{}', 'fee:' || number, '', at,
           case when executed then 'EXECUTED' else 'DEFERRED' end, case when executed then minor else 0 end,
           case when executed then 40 + number end, case when executed then 600 + number end, case when executed then at end,
           case when executed then number end, case when executed then 700 + number end, case when executed then at end
    from (${query}) as settled (run, investor, suffix, minor, executed, at, number)`);
}
