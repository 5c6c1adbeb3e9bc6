import { column, many, matchesRow, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { AmendmentKind } from "../domain/log-entry.ts";
import { HISTORY_CHANGED } from "../domain/review-actions.ts";
import type { RecordedLeg } from "./leg-row.ts";
import { listLegsByNumber } from "./legs.ts";

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

/**
 * Accounts whose history was changed, and whose review has no difference yet; and those that differ from their logs, by the check
 * `platform_balance`, otherwise than a review says that is open or acknowledged.
 */
export async function listToCompare(db: Queryable, limit: number): Promise<string[]> {
  return await column<string>(
    db,
    sql`select login
        from review_case
        where reason = ${HISTORY_CHANGED} and state in ('OPEN', 'PROPOSED') and amount_minor is null
        union
        select login
        from reconciliation_break as found
        where check_name = 'platform_balance' and opened_at is not null and closed_at is null
          and exists (
            select from log_entry as changed
            where changed.login = found.login and shown_as is not null and kind in ('amendment', 'correction')
              and number > (
                select coalesce(max(number), 0) from log_entry as corrected
                where corrected.login = found.login and corrected.kind = 'correction'
              )
          )
          and not exists (
            select from review_case
            where review_case.login = found.login and reason = ${HISTORY_CHANGED}
              and (state in ('OPEN', 'PROPOSED') or action = 'acknowledge')
              and amount_minor::text = found.evidence->>'difference_minor'
          )
        order by login
        limit ${limit}`,
  );
}

/** A change of a deal by others than this service, after it was recorded. */
type Change = {
  readonly ticket: bigint;
  readonly amendment: AmendmentKind;
  readonly shownAs: string;
  readonly foundAt: Date;
};

/** The last change of each deal of a log since its last correction, the newest first. */
export async function listChanges(db: Queryable, login: string, limit: number): Promise<Change[]> {
  const changes = await many<Change>(
    db,
    sql`select deal_id as ticket, amendment, shown_as as "shownAs", logged_at as "foundAt"
        from log_entry
        where login = ${login} and kind in ('amendment', 'correction') and shown_as is not null
          and number > (
            select coalesce(max(number), 0) from log_entry as corrected where corrected.login = ${login} and corrected.kind = 'correction'
          )
        order by number desc
        limit ${limit}`,
  );
  return changes.filter(({ ticket }, index) => changes.findIndex((change) => change.ticket === ticket) === index);
}

/** Whether the platform has changed the deal of a leg. */
export async function isChanged(
  db: Queryable,
  { login, dealId }: Pick<RecordedLeg, "login" | "dealId">,
): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select from log_entry
        where login = ${login} and deal_id = ${dealId} and kind = 'amendment' and shown_as is not null`,
  );
}

/** Applied legs that are in no log yet, because no read has shown their deals, which are gone now. */
export async function listLostLegs(db: Queryable, login: string): Promise<RecordedLeg[]> {
  const numbers = await column<bigint>(
    db,
    sql`select leg_number
        from unlogged_leg
             join leg on leg.number = leg_number
             cross join lateral (
               select amendment
               from log_entry
               where log_entry.server = leg.server and log_entry.deal_id = leg.deal_id and log_entry.login = leg.login
                 and kind = 'amendment' and shown_as is not null
               order by log_entry.number desc
               limit 1
             ) as last
        where unlogged_leg.login = ${login} and last.amendment = 'deal_gone' and leg.state = 'APPLIED'
        order by leg_number`,
  );
  return await listLegsByNumber(db, numbers);
}

export type FoundAmendment = {
  readonly dealId: bigint;
  readonly reason: AmendmentKind;
  readonly foundAt: Date;
  /** Cents; null while operators have booked nothing. */
  readonly corrected: bigint | null;
};

type Deals = { readonly login: string; readonly server: string; readonly dealIds: readonly bigint[] };

/** The last change of each deal, and the correction of its log since. Looked up deal by deal, in the indexes of these entries. */
export async function listAmendmentsOf(db: Queryable, { login, server, dealIds }: Deals): Promise<FoundAmendment[]> {
  return many<FoundAmendment>(
    db,
    sql`select wanted.deal_id as "dealId", newest.reason, newest.found_at as "foundAt", booked.amount_minor as corrected
        from unnest(${dealIds}::bigint[]) as wanted (deal_id)
             cross join lateral (
               select number, amendment as reason, logged_at as found_at
               from log_entry
               where login = ${login} and server = ${server} and log_entry.deal_id = wanted.deal_id and kind = 'amendment'
               order by number desc
               limit 1
             ) as newest
             left join lateral (
               select amount_minor
               from log_entry
               where login = ${login} and kind = 'correction' and log_entry.number > newest.number
               order by log_entry.number
               limit 1
             ) as booked on true`,
  );
}
