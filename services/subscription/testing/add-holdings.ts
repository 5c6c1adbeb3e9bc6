import { many, sql } from "#kernel/postgres/query.ts";
import type { World } from "./world.ts";

/** Puts so many further Investors into the pool of a subscription, each with 100.00 USD, as books alone. */
export async function addHoldings({ deps }: World, id: bigint, count: number): Promise<void> {
  await many(
    deps.pool,
    sql`with fresh as (
          insert into subscription (command_id, master_id, investor_id, master_login, investor_login, status, created_at,
                                    started_at, baseline_entry_id)
          select 'many:' || n, master_id, 100000 + n, master_login, (7000000 + n)::text, 'ACTIVE', now(), now(), 1
          from subscription, generate_series(1, ${count}) as n
          where id = ${id}
          returning id, master_login, investor_login
        ), account as (
          insert into investor_account (login, filed_number, pooled_subscription_id)
          select investor_login, 0, id from fresh
        ), pair as (
          insert into pair (investor_login, master_login, folded_number, change_id)
          select investor_login, master_login, 0, nextval('pair_change') from fresh
        ), pool as (
          update master_pool
          set holdings_units = holdings_units + ${count}::bigint * 10000000000::numeric,
              holdings_minor = holdings_minor + ${count}::bigint * 10000
          where login in (select master_login from fresh)
        )
        insert into holding (subscription_id, master_login, investor_login, pooled_minor, units)
        select id, master_login, investor_login, 10000, 10000000000 from fresh`,
  );
}
