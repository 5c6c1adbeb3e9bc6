import { join } from "node:path";
import { Violated } from "../bench.ts";
import { type BooksDatabase, createBooks } from "../peers/books.ts";
import { runPgbench } from "./pgbench.ts";

/** Payments of one run of the script. */
const PER_BATCH = 64;
const LEGS_PER_BATCH = 2 * PER_BATCH;
const CLIENTS = 4;
/** The script uses these of each client: 64 Investors and, the last one, a payment account. */
const ACCOUNTS_PER_CLIENT = 100;
const FIRST_LOGIN = 3_000_001;
/** Payments that are decided before, more than pgbench can make in all rounds. */
const DECIDED = 640_000;
const QUICK_DECIDED = 64_000;
const SCRIPT = join(import.meta.dirname, "payments.sql");

/** Decided payments in a database of their own. */
export async function createPayments(postgresUrl: string, isQuick: boolean): Promise<BooksDatabase> {
  const logins = Array.from({ length: CLIENTS * ACCOUNTS_PER_CLIENT }, (_, index) => String(FIRST_LOGIN + index));
  const books = await createBooks(postgresUrl, "bench_payments", logins);
  const { pool } = books;
  for (const name of ["payment_batch", "deal_number", "event_number"]) await pool.query(`create sequence ${name}`);
  await pool.query({
    text: `insert into fee.fee_run (master_login, kind, period_start, period_end, created_at)
           select n::text, 'WEEKLY', clock_timestamp() - interval '7 days', clock_timestamp(), clock_timestamp()
           from generate_series(1, $1) as n`,
    values: [CLIENTS],
  });
  await pool.query({
    text: `insert into fee.fee_payment (run_id, master_login, payment_account_login, investor_id, investor_login, kind, suffix,
                                        is_weekly, due_minor, owed_since, status, next_try_at, key, key_hash, explanation, created_at)
           select 1, '1', '2', n, n::text, 'PF', 'W', true, 100, clock_timestamp(), 'PENDING', clock_timestamp(),
                  'fee:' || n, '', '{"lines": []}', clock_timestamp()
           from generate_series(1, $1) as n`,
    values: [isQuick ? QUICK_DECIDED : DECIDED],
  });
  await pool.query("analyze");
  return books;
}

/** Legs per second of the database alone. */
export async function payAlone(program: string, { url }: BooksDatabase, seconds: number): Promise<number> {
  const batches = await runPgbench({ program, url, script: SCRIPT, clients: CLIENTS, seconds });
  return batches * LEGS_PER_BATCH;
}

/** Every payment of pgbench left all of its rows. */
export async function requireWholePayments({ pool }: BooksDatabase): Promise<void> {
  const { rows } = await pool.query<Record<string, bigint>>(
    `select (select count(*) from fee.fee_payment where status = 'EXECUTED') as paid,
            (select count(*) from platform.transfer) as ordered,
            (select count(*) / 2 from platform.leg where state = 'APPLIED') as applied,
            (select count(*) / 2 from platform.attempt where state = 'APPLIED') as answered,
            (select count(*) / 2 from platform.log_entry where kind <> 'opening') as logged,
            (select count(*) / 2 from platform.outbox) as published,
            (select sum(log_minor) / 100 from platform.account where log_minor > 0)::bigint as received`,
  );
  const counts = Object.entries(rows[0] ?? {});
  if (new Set(counts.map(([, count]) => count)).size > 1) {
    throw new Violated([`pgbench: ${counts.map(([name, count]) => `${count} ${name}`).join(", ")}`]);
  }
}
