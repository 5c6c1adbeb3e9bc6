import { many, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { AmendmentKind } from "../domain/log-entry.ts";

export type Window = { readonly logins: readonly string[]; readonly from: Date; readonly to: Date };

/** A recorded deal that a read of its time did not show. */
export type UnshownDeal = {
  readonly login: string;
  readonly ticket: bigint;
  readonly kind: string;
  readonly amountMinor: bigint;
  readonly at: Date;
  /** Null when the deal is known only from the answer to a command. */
  readonly serverMsc: bigint | null;
};

/**
 * Recorded deals that a read of their time should have shown and did not. Legs of a Master are included from their
 * answer on: their log entries wait for a read that may never show them. Deals reported or corrected as gone are left out.
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
          from leg
          where deal_id is not null
            and not exists (
              select from log_entry as own
              where own.server = leg.server and own.deal_id = leg.deal_id and own.login = leg.login
                and own.kind <> 'amendment'
            )
        ) as logged
        left join lateral (
          select deal_state, amendment
          from log_entry as correction
          where correction.server = logged.server and correction.corrected_deal_id = logged.deal_id
            and correction.login = logged.login and correction.kind = 'correction'
          order by deal_state desc
          limit 1
        ) as last on true
        where logged.login = any (${logins}::text[]) and logged.deal_at >= ${from} and logged.deal_at < ${to}
          and logged.server = ${server} and logged.kind <> 'amendment' and last.amendment is distinct from 'deal_gone'
          and not exists (
            select
            from unnest(${shown.map((deal) => deal.login)}::text[], ${shown.map(({ ticket }) => ticket)}::bigint[])
                 as shown (login, deal_id)
            where shown.login = logged.login and shown.deal_id = logged.deal_id
          )
          and not exists (
            select from log_entry as reported
            where reported.login = logged.login and reported.server = logged.server and reported.deal_id = logged.deal_id
              and reported.kind = 'amendment' and reported.amendment = 'deal_gone'
              and reported.deal_state = coalesce(last.deal_state, 0)
          )`,
  );
}

/** Accounts with reported amendments and an open break of the check `platform_balance`. */
export async function listUnreconciledLogins(db: Queryable, limit: number): Promise<string[]> {
  const rows = await many<{ login: string }>(
    db,
    sql`select distinct login
        from reconciliation_break
        where check_name = 'platform_balance' and opened_at is not null and closed_at is null
          and exists (
            select from log_entry
            where log_entry.login = reconciliation_break.login and kind = 'amendment' and amendment <> 'unmatched_deal'
          )
        order by login
        limit ${limit}`,
  );
  return rows.map(({ login }) => login);
}

export type ReportedAmendment = {
  readonly login: string;
  readonly ticket: bigint;
  readonly amendment: AmendmentKind;
  readonly state: number;
};

export async function listReportedAmendments(
  db: Queryable,
  server: string,
  tickets: readonly bigint[],
): Promise<ReportedAmendment[]> {
  const rows = await many<{ login: string; deal_id: bigint; amendment: AmendmentKind; deal_state: number }>(
    db,
    sql`select login, deal_id, amendment, deal_state
        from log_entry
        where server = ${server} and deal_id = any (${tickets}::bigint[]) and kind = 'amendment'`,
  );
  return rows.map((row) => ({
    login: row.login,
    ticket: row.deal_id,
    amendment: row.amendment,
    state: row.deal_state,
  }));
}

/** Amended deals of a login that were not corrected since. */
export async function listUncorrected(db: Queryable, server: string, login: string, limit: number): Promise<bigint[]> {
  const rows = await many<{ deal_id: bigint }>(
    db,
    sql`select distinct deal_id
        from log_entry as reported
        where login = ${login} and server = ${server} and kind = 'amendment' and amendment <> 'unmatched_deal'
          and deal_state = (
            select count(*)
            from log_entry as correction
            where correction.server = reported.server and correction.corrected_deal_id = reported.deal_id
              and correction.login = reported.login and correction.kind = 'correction'
          )
        order by deal_id
        limit ${limit}`,
  );
  return rows.map(({ deal_id: ticket }) => ticket);
}

/** Amended deals of a login, the newest first. */
export async function listAmendedDeals(db: Queryable, server: string, login: string, limit: number): Promise<bigint[]> {
  const rows = await many<{ deal_id: bigint }>(
    db,
    sql`select deal_id
        from log_entry
        where login = ${login} and server = ${server} and kind = 'amendment' and amendment <> 'unmatched_deal'
        group by deal_id
        order by max(id) desc
        limit ${limit}`,
  );
  return rows.map(({ deal_id: ticket }) => ticket);
}

/** Whether an open review is about correcting this deal. */
export async function isInManualReview(tx: Transaction, login: string, dealId: bigint): Promise<boolean> {
  const { is } = await one<{ is: boolean }>(
    tx,
    sql`select exists (
          select
          from review_case
          where login = ${login} and deal_id = ${dealId} and state in ('OPEN', 'PROPOSED')
            and 'correct_log' = any (actions)
        ) as is`,
  );
  return is;
}
