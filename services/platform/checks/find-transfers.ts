import { DAY_MS } from "#kernel/values/duration.ts";
import { type Fragment, fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import { MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import { type Page, selectIds } from "#kernel/reconcile/table-walk.ts";

/** Older transfers are not compared again: their services may have removed the rows behind them. */
export const COMPARED_FOR_MS = 30 * DAY_MS;

export type LegRow = {
  readonly id: bigint;
  readonly key: string;
  readonly number: bigint;
  readonly ordinal: number;
  readonly login: string;
  readonly role: string;
  readonly kind: string;
  readonly requestedMinor: bigint;
  readonly amountMinor: bigint;
  readonly dealId: bigint | null;
  /** Applied without a permit of this service: recorded from the history of the platform. */
  readonly isImported: boolean;
};

/**
 * The legs of the transfers of a page. New ones are compared whatever time they have, because a forged row has the time that its author
 * wrote; so are those of breaks, which end by a decision and not by their age.
 */
export async function listLegs(db: Queryable, page: Page, broken: readonly bigint[]): Promise<LegRow[]> {
  return await many<LegRow>(
    db,
    sql`select transfer.id, key, leg.number, ordinal, leg.login, role, kind, requested_minor as "requestedMinor",
               amount_minor as "amountMinor", deal_id as "dealId",
               state = 'APPLIED' and not exists (select from attempt where leg_number = leg.number) as "isImported"
        from transfer
        join leg on transfer_id = transfer.id
        join account on account.login = leg.login
        where transfer.id in ${selectIds(page, broken)}
          and (${isNew(page)} or transfer.id = any (${broken}::bigint[])
               or transfer.created_at > clock_timestamp() - ${COMPARED_FOR_MS} * interval '1 millisecond')
        order by transfer.id, ordinal`,
  );
}

function isNew({ fresh }: Page): Fragment {
  return fragment`(transfer.id > ${fresh.after} and transfer.id <= ${fresh.to})`;
}

/** The legs that decided reviews have ordered, by key: the reversal of a deal as its log had it, or of a leg that was refused before. */
export async function listReviewLegs(db: Queryable, server: string, rows: readonly LegRow[]): Promise<ReviewLeg[]> {
  if (rows.length === 0) return [];
  return await many<ReviewLeg>(
    db,
    sql`with decided as (
          select requested.key, review_case.login, review_case.deal_id, operation_id, reason
          from unnest(${rows.map(({ key }) => key)}::text[]) as requested (key)
          join review_case on requested.key = 'review:' || review_case.id || ':reverse'
          where state = 'DECIDED' and action = 'reverse'
        )
        select decided.key, decided.login, 'reversal' as kind, -amount_minor as "amountMinor"
        from decided
        join log_entry on log_entry.login = decided.login and server = ${server} and log_entry.deal_id = decided.deal_id
                          and kind <> 'amendment'
        union all
        select key, decided.login, 'reversal', refused.amount_minor
        from decided
        join leg as refused on reason = 'reversal_refused' and operation_id = refused.number::text`,
  );
}

export type ReviewLeg = {
  readonly key: string;
  readonly login: string;
  readonly kind: string;
  readonly amountMinor: bigint;
};

/** Those of the transfers that operators have accepted: a decided review of a stopped account names them. */
export async function listAccepted(db: Queryable, ids: readonly bigint[]): Promise<ReadonlySet<bigint>> {
  if (ids.length === 0) return new Set();
  const rows = await many<{ id: bigint }>(
    db,
    sql`select distinct named.id
        from unnest(${ids.slice(0, MAX_FINDINGS)}::bigint[]) as named (id)
        join review_case on state = 'DECIDED' and reason = 'account_stopped' and evidence->'transfers' ? named.id::text`,
  );
  return new Set(rows.map(({ id }) => id));
}
