import type pg from "pg";
import { CAPITAL_MINOR, groupOf, loginSql, RESULT_SQL, type Step } from "./sizes.ts";

/** A fee week ends on Saturday, 00:00 UTC: see PAMM_FEE_ANCHOR. The last end, as an expression of SQL. */
const WEEK_END = `(timestamptz '2025-01-04T00:00:00Z'
  + floor(extract(epoch from clock_timestamp() - timestamptz '2025-01-04T00:00:00Z') / 604800) * interval '7 days')`;
const STARTED = `${WEEK_END} - interval '6 days'`;
const DEAL_AT = `${WEEK_END} - interval '1 day'`;
/** Twenty per cent, in parts per million. */
const FEE_PPM = 200_000;
const UNITS_PER_CENT = 1_000;

/**
 * Loads the Investors, Masters and subscriptions of a step into the tables of all services, in sets: the books of Masters
 * without open positions, each with one result that is allocated, posted, and known to fee. All checks agree with them.
 */
export async function loadStep(client: pg.Client, step: Step): Promise<void> {
  await client.query("begin");
  // Each row refers to rows of this transaction, and nothing else writes them.
  await client.query("set local session_replication_role = replica");
  await client.query("set local synchronous_commit = off");
  await createMembers(client, step);
  for (const statement of statementsOf(step)) await client.query(statement);
  await client.query("drop table large_pool, large_member");
  await client.query("commit");
}

/**
 * As autovacuum does it, which leaves tables without rows alone: a table that was vacuumed while it was empty counts as empty until it
 * is analysed again, and is read as a whole until then.
 */
export async function analyze(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relkind = 'r' and relnamespace <> 'pg_catalog'::regnamespace and pg_relation_size(oid) > 0`,
  );
  await client.query(`vacuum analyze ${rows.map(({ name }) => name).join(", ")}`);
}

/** The checks that search for written rows begin with those that are written from now on. */
export async function forgetSearches(client: pg.Client): Promise<void> {
  await client.query(
    `update subscription.reconciliation_check set cursor = '' where name in ('pool_ledger', 'subscription_endings')`,
  );
}

/** Two temporary tables: the pools of the step, and its Investors with their pool, if any. */
async function createMembers(client: pg.Client, { pools, outside }: Step): Promise<void> {
  await client.query("create temporary table large_pool (master bigint primary key, first bigint, last bigint)");
  await client.query({
    text: "insert into large_pool select * from unnest($1::bigint[], $2::bigint[], $3::bigint[])",
    values: [pools.map(({ master }) => master), pools.map(({ first }) => first), pools.map(({ last }) => last)],
  });
  await client.query(`create temporary table large_member as
    select n, ${loginSql("investor", "n")} as login, master, ${loginSql("master", "master")} as master_login,
           ${RESULT_SQL} as result, ${CAPITAL_MINOR} + ${RESULT_SQL} as balance
    from large_pool cross join lateral generate_series(first, last) as n
    union all
    select n, ${loginSql("investor", "n")}, null, null, 0, ${CAPITAL_MINOR}
    from generate_series(${outside.first}, ${outside.last}) as n
    order by 1`);
  await client.query("create index on large_member (master) where master is not null");
  await client.query("analyze large_member");
}

function statementsOf(step: Step): string[] {
  return [...accounts(), ...platform(step), funding(), ...subscription(), ...fee()];
}

function accounts(): string[] {
  const master = loginSql("master", "master");
  const payment = loginSql("payment", "master");
  return [
    `insert into account.account (login, kind)
     select login, 'INVESTOR' from large_member
     union all select ${master}, 'MASTER' from large_pool
     union all select ${payment}, 'PAYMENT' from large_pool`,
    `insert into account.master (login, payment_login, name, min_deposit_minor, accepting_since, created_at)
     select ${master}, ${payment}, 'Master ' || master, 0, ${STARTED}, ${STARTED} from large_pool order by master`,
    `insert into account.investor (login, name, created_at)
     select login, 'Investor ' || n, ${STARTED} from large_member order by n`,
    `insert into account.profile (kind, login)
     select 'INVESTOR', login from large_member union all select 'MASTER', ${master} from large_pool`,
  ];
}

/** Each log begins with the whole balance. The accounts are known to a platform process that starts afterwards. */
function platform({ number }: Step): string[] {
  const opened = (role: "investor" | "master" | "payment", source: string): string =>
    `with opened (login, balance) as materialized (${source}), opening as (
       insert into platform.log_entry (login, number, kind, amount_minor, deal_at)
       select login, 0, 'opening', balance, ${STARTED} from opened
       returning id, login, amount_minor
     )
     insert into platform.account (login, role, platform_group, reads_from, log_number, log_entry_id, log_minor, managed_at)
     select login, '${role}', '${groupOf(role, number)}', clock_timestamp(), 0, id, amount_minor,
            clock_timestamp() - interval '1 hour'
     from opening`;
  const ofPools = "select master_login, sum(balance) from large_member where master is not null group by 1";
  return [
    opened("investor", "select login, balance from large_member order by n"),
    opened("master", ofPools),
    opened("payment", `select ${loginSql("payment", "master")}, 0 from large_pool`),
  ];
}

function funding(): string {
  return `with masters as (
            insert into funding.known_master (login, min_deposit_minor)
            select ${loginSql("master", "master")}, 0 from large_pool
          )
          insert into funding.known_investor (login, master_login) select login, master_login from large_member`;
}

function subscription(): string[] {
  return [
    `insert into subscription.master_pool (login, filed_number, last_allocation, weeks_closed_through)
     select ${loginSql("master", "master")}, 0, 1, ${WEEK_END} from large_pool`,
    `insert into subscription.subscription (command_id, master_id, investor_id, master_login, investor_login, status,
                                            created_at, started_at, baseline_entry_id)
     select '', master.id, investor.id, master_login, large_member.login, 'ACTIVE', ${STARTED}, ${STARTED}, log_entry_id
     from large_member
          join account.master on master.login = master_login
          join account.investor on investor.login = large_member.login
          join platform.account on account.login = large_member.login
     order by n`,
    `insert into subscription.investor_account (login, filed_number, outside_minor, pooled_subscription_id)
     select login, 0, case when master is null then balance else 0 end, subscription.id
     from large_member left join subscription.subscription on investor_login = login`,
    `insert into subscription.holding (subscription_id, master_login, investor_login, pooled_minor, units)
     select subscription.id, subscription.master_login, login, balance, ${CAPITAL_MINOR}::numeric * ${UNITS_PER_CENT}
     from large_member join subscription.subscription on investor_login = login`,
    `update subscription.master_pool
     set holdings_units = holding.units, holdings_minor = holding.minor
     from (select master_login, sum(units) as units, sum(pooled_minor) as minor from subscription.holding group by master_login) as holding
     where login = holding.master_login`,
    `insert into subscription.allocation_row (master_login, number, subscription_id, amount_minor, pooled_minor, carry_e8, units,
                                              floating_e8)
     select subscription.master_login, 1, subscription.id, result, balance, 0, ${CAPITAL_MINOR}::numeric * ${UNITS_PER_CENT}, 0
     from large_member join subscription.subscription on investor_login = login
     order by 1, 3`,
    `insert into subscription.allocation_entry (master_login, number, kind, created_at, log_number, deal_id, deal_at,
                                                result_minor, own_minor, pool_units)
     select master_login, 1, 'RESULT', ${DEAL_AT}, 0, 1, ${DEAL_AT}, sum(result), 0, count(*) * ${CAPITAL_MINOR}::numeric * ${UNITS_PER_CENT}
     from large_member where master is not null group by master_login`,
    // What an Investor earned follows from the result at the first decision.
    `insert into subscription.pair (investor_login, master_login, folded_number, change_id)
     select investor_login, master_login, 0, nextval('subscription.pair_change')
     from subscription.holding order by subscription_id`,
  ];
}

function fee(): string[] {
  return [
    `insert into fee.fee_master (master_login, payment_account_login)
     select ${loginSql("master", "master")}, ${loginSql("payment", "master")} from large_pool`,
    "insert into fee.payment_account (login, master_login) select payment_account_login, master_login from fee.fee_master",
    `insert into fee.fee_configuration (investor_login, investor_id, created_at, updated_at)
     select large_member.login, investor.id, ${STARTED}, ${STARTED}
     from large_member join account.investor on investor.login = large_member.login
     where master is not null`,
    `insert into fee.fee_version (investor_login, key, rate_ppm, effective_since, enabled, enabled_from, made_at)
     select login, 'large:' || n, ${FEE_PPM}, ${STARTED}, true, ${STARTED}, ${STARTED}
     from large_member where master is not null order by n`,
  ];
}
