import type pg from "pg";

const MASTER = "60000001";
const PAYMENT_ACCOUNT = "70000001";
/** Every tenth Investor has a rate of 0: its profit is never charged, and its one layer is as old as its history. */
const FREE = "n % 10 = 0";
const RATE_PPM = 300_000;
const FIRST_WEEK = "2025-01-04";
export const DEALS_A_WEEK = 5;
/** Of five deals each Investor loses one and wins four, so that each week has a fee. */
const PART = "case when (n + number) % 5 = 0 then -200 else 100 end";
/** Rows refer to rows that are not measured: subscriptions, accounts. */
const WITHOUT_REFERENCES = "set session_replication_role = replica";

/** One Master with so many Investors in its pool, in the tables of subscription and fee. Nothing is allocated. */
export async function createPool(client: pg.Client, holdings: number): Promise<void> {
  await client.query(WITHOUT_REFERENCES);
  // No platform says that the books lack nothing.
  await client.query("set search_path = subscription");
  for (const statement of [
    `insert into settled_database (database) values (database_identity())
     on conflict (is_only) do update set database = excluded.database`,
    `insert into subscription.holding (subscription_id, master_login, investor_login, pooled_minor, units)
     select n, '${MASTER}', (50000000 + n)::text, 1000000, 1000000000 from generate_series(1, ${holdings}) as n`,
    `insert into subscription.pair (investor_login, master_login, folded_number, change_id)
     select investor_login, master_login, 0, nextval('subscription.pair_change') from subscription.holding`,
    `insert into fee.fee_master (master_login, payment_account_login) values ('${MASTER}', '${PAYMENT_ACCOUNT}')`,
    `insert into fee.fee_configuration (investor_login, investor_id, created_at, updated_at)
     select (50000000 + n)::text, n, '${FIRST_WEEK}', '${FIRST_WEEK}' from generate_series(1, ${holdings}) as n`,
  ]) {
    await client.query(statement);
  }
  await client.query("reset search_path");
  await addVersions(client, holdings, {
    from: FIRST_WEEK,
    ppm: `case when ${FREE} then 0 else ${RATE_PPM} end`,
    who: "true",
  });
}

/** A rate from the middle of the history on, for the Investors that have paid nothing: their results are added again. */
export async function addRatesOfThePast(client: pg.Client, holdings: number, from: Date): Promise<void> {
  await addVersions(client, holdings, { from: from.toISOString(), ppm: "100000", who: FREE });
}

type Version = { readonly from: string; readonly ppm: string; readonly who: string };

async function addVersions(client: pg.Client, holdings: number, { from, ppm, who }: Version): Promise<void> {
  await client.query(
    `insert into fee.fee_version (investor_login, key, rate_ppm, effective_since, enabled, enabled_from, made_at)
     select (50000000 + n)::text, n || ' ${from}', ${ppm}, '${from}', true, '${from}', '${from}'
     from generate_series(1, ${holdings}) as n where ${who}`,
  );
}

/** Allocates deals, one on each working day, as subscription records them. `before` is the number of the last entry. */
export async function allocateDeals(
  client: pg.Client,
  holdings: number,
  before: number,
  deals: number,
): Promise<number> {
  for (let number = before + 1; number <= before + deals; number += 1) {
    await client.query(
      `insert into subscription.allocation_row (master_login, number, subscription_id, amount_minor, pooled_minor, carry_e8, units, floating_e8)
       select '${MASTER}', number, n, ${PART}, 1000000, 0, 1000000, 0
       from generate_series(1, ${holdings}) as n, (values (${number})) as entry (number)`,
    );
    await client.query({
      text: `insert into subscription.allocation_entry (master_login, number, kind, created_at, log_number, deal_id, deal_at,
                                                        result_minor, own_minor, pool_units)
             values ('${MASTER}', $1, 'RESULT', $2, $1, $1, $2, 0, 0, $3)`,
      values: [number, instantOf(number), holdings * 1_000_000],
    });
  }
  return before + deals;
}

/** Closes the week that ends after the last deal. */
export async function closeWeek(client: pg.Client, holdings: number, before: number): Promise<number> {
  const number = before + 1;
  await client.query(
    `insert into subscription.allocation_row (master_login, number, subscription_id, amount_minor, pooled_minor, carry_e8, units, floating_e8)
     select '${MASTER}', ${number}, n, 0, 1000000, 0, 1000000, 0 from generate_series(1, ${holdings}) as n`,
  );
  await client.query({
    text: `insert into subscription.allocation_entry (master_login, number, kind, created_at, period_start, cut_off, pool_units)
           values ('${MASTER}', $1, 'WEEK', $3, $2, $3, $4)`,
    values: [number, instantOf(before - DEALS_A_WEEK), instantOf(number), holdings * 1_000_000],
  });
  await client.query(`insert into subscription.open_week (master_login, number) values ('${MASTER}', ${number})`);
  return number;
}

/** The instant of an entry: the entries are a day apart. */
export function instantOf(number: number): Date {
  return new Date(Date.parse(FIRST_WEEK) + number * 86_400_000);
}

/** All open payments are paid, as if platform had executed them: `weekly` measures that. Returns their number. */
export async function payAll(client: pg.Client): Promise<number> {
  const { rowCount } = await client.query(
    `with paid as (
       insert into fee.payment_credit (master_login, payment_account_login, investor_login, kind, amount_minor, deal_id, deal_at,
                                       unique_key, created_at)
       select master_login, payment_account_login, investor_login, kind, due_minor, id, created_at, unique_key, created_at
       from fee.fee_payment where status in ('PENDING', 'EXECUTING')
       returning id, deal_id as payment_id
     )
     update fee.fee_payment
     set status = 'EXECUTED', amount_minor = due_minor, transfer_id = fee_payment.id, deal_id = fee_payment.id,
         executed_at = created_at, credit_id = paid.id, reason = null
     from paid where fee_payment.id = paid.payment_id`,
  );
  await client.query(
    `update fee.fee_run set executed_count = executed_count + open_count, open_count = 0, status = 'EXECUTED' where open_count > 0`,
  );
  return rowCount ?? 0;
}
