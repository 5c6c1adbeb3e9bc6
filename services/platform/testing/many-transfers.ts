import { corrupt } from "#test/support/corrupt.ts";
import type { Pool } from "#kernel/postgres/pool.ts";

/**
 * Applied deposits of one account with their log entries, as the service records them. Their numbers follow `from`; the
 * account needs no balance, because its log is not summed.
 */
export async function insertManyDeposits(pool: Pool, login: string, count: number, from = 0): Promise<void> {
  const range = `generate_series(${from} + 1, ${from} + ${count}) as n`;
  await corrupt(
    pool,
    `
      insert into transfer (key, lock_owner, leg_count, is_enqueued, releases_lock, comment, request_id)
      select 'many:' || n, 'many:' || n, 1, false, false, '', '' from ${range} order by n;
      insert into leg (number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_exclusive, is_ready, state,
                       attempt, server, deal_id, applied_at)
      select 1000000000 + n, transfer.id, 1, '${login}', 'deposit', 100, 100, true, true, 'APPLIED', 1, 'demo',
             500000000 + n, now()
      from ${range} join transfer on key = 'many:' || n order by n;
      insert into log_entry (login, number, kind, amount_minor, leg_number, transfer_id, key, server, deal_id, deal_at)
      select '${login}', 1000000 + n, 'deposit', 100, 1000000000 + n, transfer.id, key, 'demo', 500000000 + n, now()
      from ${range} join transfer on key = 'many:' || n order by n`,
  );
}
