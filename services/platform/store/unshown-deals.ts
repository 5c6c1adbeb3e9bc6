import { many, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";

export type Window = { readonly logins: readonly string[]; readonly from: Date; readonly to: Date };

/** A deal that was told and that a reading of its time did not show. */
export type UnshownDeal = {
  readonly login: string;
  readonly ticket: bigint;
  readonly kind: string;
  readonly amountMinor: bigint;
  readonly at: Date;
  /** Undefined when only the answer of a command told of it. */
  readonly serverMsc: bigint | null;
};

/**
 * What a reading of its time did not show and should have. A Master's own operations are among them from the answer on:
 * their numbers in the log wait for a reading that may never come. What was told or corrected as gone is not missed.
 */
export async function listUnshownDeals(
  db: Queryable,
  server: string,
  { logins, from, to }: Window,
  shown: readonly { readonly login: string; readonly ticket: bigint }[],
): Promise<UnshownDeal[]> {
  return await many<UnshownDeal>(
    db,
    sql`select logged.login, logged.kind, logged.amount_minor as "amountMinor", logged.deal_id as ticket,
               logged.deal_at as at, logged.server_msc as "serverMsc"
        from (
          select login, kind, amount_minor, server, deal_id, deal_at, server_msc
          from log_entry
          where deal_id is not null
          union all
          select login, kind, amount_minor, server, deal_id, applied_at, null
          from operation
          where deal_id is not null
            and not exists (
              select from log_entry as own
              where own.server = operation.server and own.deal_id = operation.deal_id and own.login = operation.login
                and own.kind <> 'irregularity'
            )
        ) as logged
        left join lateral (
          select deal_state, irregularity
          from log_entry as correction
          where correction.server = logged.server and correction.corrected_deal_id = logged.deal_id
            and correction.login = logged.login and correction.kind = 'correction'
          order by deal_state desc
          limit 1
        ) as last on true
        where logged.login = any (${logins}::text[]) and logged.deal_at >= ${from} and logged.deal_at < ${to}
          and logged.server = ${server} and logged.kind <> 'irregularity' and last.irregularity is distinct from 'deal_gone'
          and not exists (
            select
            from unnest(${shown.map((deal) => deal.login)}::text[], ${shown.map(({ ticket }) => ticket)}::bigint[])
                 as shown (login, deal_id)
            where shown.login = logged.login and shown.deal_id = logged.deal_id
          )
          and not exists (
            select from log_entry as told
            where told.login = logged.login and told.server = logged.server and told.deal_id = logged.deal_id
              and told.kind = 'irregularity' and told.irregularity = 'deal_gone'
              and told.deal_state = coalesce(last.deal_state, 0)
          )`,
  );
}
