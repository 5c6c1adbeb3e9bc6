import { many, type Queryable, sql } from "#kernel/postgres/query.ts";

export type FeeFloor = { readonly investorLogin: string; readonly floor: bigint };

/**
 * The part of each balance that pays no fee: external funds, inbound and waiting money, losses that are not posted.
 * Cents.
 */
export async function listFeeFloors(db: Queryable, investorLogins: readonly string[]): Promise<FeeFloor[]> {
  return many<FeeFloor>(
    db,
    sql`select account.login as "investorLogin",
               greatest(account.quarantined_minor, 0) + greatest(-account.unposted_minor, 0)
               + coalesce(holding.inbound_minor + holding.waiting_minor, 0) as floor
        from investor_account as account
             left join holding on holding.subscription_id = account.pooled_subscription_id
        where account.login = any(${investorLogins}::text[])
        order by account.login`,
  );
}
