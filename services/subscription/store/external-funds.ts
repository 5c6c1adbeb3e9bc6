import { execute, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** External funds that people have not looked at, or can do something with. Cents, signed. */
export type ExternalFunds = {
  readonly kind: "investor" | "master";
  readonly login: string;
  readonly amount: bigint;
  /** Of the pool, or of that in which the Investor is. */
  readonly masterLogin: string;
  /** What those who are below zero in the Master's pool lack together; 0 for an Investor. */
  readonly shortfall: bigint;
  /** Highest ticket that is filed of the Master; 0 for an Investor. */
  readonly dealId: bigint;
};

/** What of a pool is open for people, the Investors first. */
export async function listExternalFunds(db: Queryable, limit: number): Promise<ExternalFunds[]> {
  return [...(await listOnInvestors(db, limit)), ...(await listOnMasters(db, limit))];
}

function listOnInvestors(db: Queryable, limit: number): Promise<ExternalFunds[]> {
  return many<ExternalFunds>(
    db,
    sql`select 'investor' as kind, account.login, quarantined_minor as amount, holding.master_login as "masterLogin",
               0::bigint as shortfall, 0::bigint as "dealId"
        from investor_account as account join holding on holding.subscription_id = account.pooled_subscription_id
        where quarantined_minor <> quarantine_known_minor and quarantined_minor <> 0
        order by account.login
        limit ${limit}`,
  );
}

/** Known money is asked about again when it can raise those who are below zero. */
function listOnMasters(db: Queryable, limit: number): Promise<ExternalFunds[]> {
  return many<ExternalFunds>(
    db,
    sql`with pool as (
          select login, external_minor, external_known_minor, filed_deal_id,
                 (select coalesce(-sum(pooled_minor), 0)::bigint
                  from holding join subscription on subscription.id = holding.subscription_id
                  where subscription.master_login = login and subscription.status = 'ACTIVE' and pooled_minor < 0)
                 as shortfall
          from master_pool
          where external_minor <> 0
        )
        select 'master' as kind, login, external_minor as amount, login as "masterLogin", shortfall,
               filed_deal_id as "dealId"
        from pool
        where external_minor <> external_known_minor or (shortfall > 0 and external_minor >= shortfall)
        order by login
        limit ${limit}`,
  );
}

/** The caller has locked the account. */
export async function acknowledgeQuarantine(tx: Transaction, login: string, amount: bigint): Promise<void> {
  await execute(tx, sql`update investor_account set quarantine_known_minor = ${amount} where login = ${login}`);
}

/** The caller has locked the pool. */
export async function acknowledgeExternal(tx: Transaction, login: string, amount: bigint): Promise<void> {
  await execute(tx, sql`update master_pool set external_known_minor = ${amount} where login = ${login}`);
}

/** What is gone is not known any more: the same amount would be another one. */
export async function forgetKnownMoney(db: Queryable): Promise<void> {
  await execute(
    db,
    sql`update investor_account set quarantine_known_minor = 0
        where quarantined_minor <> quarantine_known_minor and quarantined_minor = 0`,
  );
  await execute(
    db,
    sql`update master_pool set external_known_minor = 0 where external_minor = 0 and external_known_minor <> 0`,
  );
}
