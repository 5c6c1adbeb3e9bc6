import { many, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { AmendmentKind } from "../domain/log-entry.ts";

/** From `from` inclusive to `to` exclusive. */
export type Window = { readonly from: Date; readonly to: Date };

export type DealOfLogin = { readonly login: string; readonly ticket: bigint };

export type DatedDeal = DealOfLogin & { readonly at: Date };

/** A deal that the platform should show. */
export type RecordedDeal = DatedDeal & {
  /** Null when the deal is known only from the answer to a command. */
  readonly serverMsc: bigint | null;
};

/**
 * The recorded deals of a period. Legs of a Master are included from their answer on: their log entries wait for a read that
 * may never show them.
 */
export async function listRecordedOf(db: Queryable, server: string, { from, to }: Window): Promise<RecordedDeal[]> {
  return await many<RecordedDeal>(
    db,
    sql`select login, deal_id as ticket, deal_at as at, server_msc as "serverMsc"
        from recorded_deal
        where deal_at >= ${from} and deal_at < ${to} and server = ${server}`,
  );
}

type Unshown = { readonly before: Date; readonly shown: readonly bigint[]; readonly limit: number };

/** The first recorded deals of one login that a whole read of its history did not show. */
export async function listUnshownOfLogin(
  db: Queryable,
  server: string,
  login: string,
  { before, shown, limit }: Unshown,
): Promise<DatedDeal[]> {
  return await many<DatedDeal>(
    db,
    sql`select login, deal_id as ticket, deal_at as at
        from recorded_deal
        where login = ${login} and server = ${server} and deal_at < ${before}
          -- Not "<> all": that compares each deal with each.
          and deal_id not in (select seen from unnest(${shown}::bigint[]) as one (seen))
        order by deal_at, deal_id
        limit ${limit}`,
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
