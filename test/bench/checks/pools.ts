import type pg from "pg";
import { eventually, platformBalanceOf } from "../../journey/support/client.ts";
import { Violated } from "../bench.ts";
import { inParallel } from "../system/accounts.ts";
import type { System } from "../system/start-system.ts";

type Row = { readonly login: string; readonly logged: string; readonly invested: string };

/**
 * Waits until nothing is on its way between these Masters and their Investors. Then the balance of each Master is the sum of
 * its Investors' balances, in the logs and on the platform. Throws Violated when it is not so within the time.
 */
export async function requirePoolsAtRest(
  system: Pick<System, "client">,
  database: pg.Client,
  masters: readonly string[],
  withinMs: number,
): Promise<void> {
  try {
    await eventually(async () => {
      const wrong = await violationsOf(system, database, masters);
      if (wrong.length > 0) throw new Violated(wrong);
    }, withinMs);
  } catch (error) {
    throw error instanceof Violated ? error : new Violated([String(error)]);
  }
}

async function violationsOf({ client }: Pick<System, "client">, database: pg.Client, masters: readonly string[]) {
  const rows = await readPools(database, masters);
  const apart = rows.filter(({ logged, invested }) => logged !== invested);
  if (apart.length > 0) return apart.map((row) => `Master ${row.login} has ${row.logged} of ${row.invested} cents`);
  const balances = await inParallel(rows.length, (index) => platformBalanceOf(client, rows[index]?.login ?? ""));
  return rows.flatMap(({ login, logged }, index) =>
    BigInt(logged) === balances[index] ? [] : [`Master ${login} has ${balances[index]} cents and a log of ${logged}`],
  );
}

/** The log of each Master, and those of the Investors in its pool. */
async function readPools(database: pg.Client, masters: readonly string[]): Promise<readonly Row[]> {
  const { rows } = await database.query<Row>({
    text: `select master.login, master.log_minor::text as logged, coalesce(sum(investor.log_minor), 0)::text as invested
           from platform.account as master
                left join subscription.holding on master_login = master.login
                left join subscription.investor_account on pooled_subscription_id = subscription_id
                left join platform.account as investor on investor.login = investor_account.login
           where master.login = any ($1)
           group by master.login, master.log_minor
           order by master.login`,
    values: [masters],
  });
  return rows;
}
