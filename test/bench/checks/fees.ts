import type pg from "pg";
import { eventually, platformBalanceOf } from "../../journey/support/client.ts";
import { Violated } from "../bench.ts";
import { requireNoBreaks } from "./breaks.ts";
import { inParallel } from "../system/accounts.ts";
import type { System } from "../system/start-system.ts";

/** Transfers that fee has ordered end within this time. */
const RESTS_WITHIN_MS = 120_000;
/** Investors whose balance is compared with the trading platform. */
const SAMPLE = 300;
const MAX_SHOWN = 10;

/**
 * Stops fee, waits until the transfers that it has ordered are final, and compares the payments of the runs after `runs` with
 * their legs, and logs with the trading platform: every payment account, and some Investors; no check reports a break. Throws
 * Violated.
 */
export async function requireFeesPaid(system: System, client: pg.Client, runs: string): Promise<void> {
  await system.whileStopped("fee", async () => {
    await eventually(async () => {
      const { rowCount } = await client.query(
        "select from platform.leg where state in ('INTENT', 'SENDING', 'UNKNOWN') limit 1",
      );
      if (rowCount !== 0) throw new Error("fees are still being sent");
    }, RESTS_WITHIN_MS);
    const wrong = [...(await listWrongPayments(client, runs)), ...(await listWrongBalances(system, client, runs))];
    if (wrong.length > 0) throw new Violated(wrong.slice(0, MAX_SHOWN));
    await requireNoBreaks(client);
  });
}

/** Executed payments that are not exactly two applied legs of their amount, and transfers whose legs do not sum to zero. */
async function listWrongPayments(client: pg.Client, runs: string): Promise<string[]> {
  // Half a million payments are new: without statistics each would be compared with each transfer.
  await client.query("analyze fee.fee_payment, platform.transfer, platform.leg, platform.account");
  const { rows } = await client.query<{ key: string; paid: string; moved: string }>(
    `with paid as (
       select key, case status when 'EXECUTED' then amount_minor end as paid from fee.fee_payment where run_id > $1
     ), moved as (
       select paid.key, paid, count(*) filter (where state = 'APPLIED') as legs,
              coalesce(sum(amount_minor) filter (where state = 'APPLIED'), 0) as sum,
              coalesce(max(amount_minor) filter (where state = 'APPLIED'), 0) as moved
       from paid
            join platform.transfer on transfer.key = paid.key
            join platform.leg on transfer_id = transfer.id
       group by paid.key, paid
     )
     select key, coalesce(paid, 0)::text as paid, moved::text as moved
     from moved
     where sum <> 0 or (paid is not null and (legs <> 2 or moved <> paid))
     union all
     select key, paid::text, 'nothing'
     from paid
     where paid is not null and not exists (select from platform.transfer where transfer.key = paid.key)
     limit $2`,
    [runs, MAX_SHOWN],
  );
  return rows.map(({ key, paid, moved }) => `${key} is recorded with ${paid} cents and moved ${moved}`);
}

async function listWrongBalances({ client: api }: System, client: pg.Client, runs: string): Promise<string[]> {
  const { rows } = await client.query<{ login: string; logged: string }>(
    `select login, log_minor::text as logged
     from platform.account
     where login in (
       select payment_account_login from fee.fee_payment where run_id > $1
       union
       (select investor_login from fee.fee_payment where run_id > $1 and status = 'EXECUTED' limit $2)
     )`,
    [runs, SAMPLE],
  );
  const balances = await inParallel(rows.length, (index) => platformBalanceOf(api, rows[index]?.login ?? ""));
  return rows.flatMap(({ login, logged }, index) =>
    BigInt(logged) === balances[index] ? [] : [`${login} has ${balances[index]} cents and a log of ${logged}`],
  );
}
