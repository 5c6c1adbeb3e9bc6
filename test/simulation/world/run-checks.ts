import { execute, many, sql } from "../../../services/kernel/postgres/query.ts";
import type { Pool } from "../../../services/kernel/postgres/pool.ts";
import type { Mt5Client } from "../../../services/platform/mt5/client.ts";

/** The checks that have to hold before operators resume. */
const NAMES = ["deal_matching", "platform_balance"];

type Row = { readonly login: string; readonly logMinor: bigint };

/**
 * Stands for the checks of the service, whose statements read in snapshots that the simulation does not have: a complete run and pass is recorded when
 * the balances equal the logs. Reviews of legs are not decided here, so accounts with one are left out, as are those with a leg of unknown outcome. The checks of the simulation itself compare every deal with its leg.
 */
export async function runChecks(pool: Pool, mt5: Pick<Mt5Client, "readUsers">): Promise<void> {
  const from = await many<{ at: Date }>(pool, sql`select clock_timestamp() as at`);
  const rows = await many<Row>(
    pool,
    sql`select login, log_minor as "logMinor"
        from account
        where not exists (select from leg where leg.login = account.login and state in ('SENDING', 'UNKNOWN', 'REVIEW'))
        order by login`,
  );
  const { users } = await mt5.readUsers(rows.map(({ login }) => login));
  if (rows.some(({ login, logMinor }) => users.get(login)?.balanceMinor !== logMinor)) return;
  for (const name of NAMES) {
    await execute(
      pool,
      sql`insert into reconciliation_check (name, title, every_ms, completed_from, full_pass_from)
          values (${name}, ${name}, ${60_000n}, ${from[0]?.at}, ${from[0]?.at})
          on conflict (name) do update set completed_from = excluded.completed_from, full_pass_from = excluded.full_pass_from`,
    );
  }
}
