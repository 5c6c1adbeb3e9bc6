import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { AmendmentKind } from "../domain/log-entry.ts";

export type FoundAmendment = {
  readonly dealId: bigint;
  readonly reason: AmendmentKind;
  readonly foundAt: Date;
  /** Cents; null while operators have booked nothing. */
  readonly corrected: bigint | null;
};

type Deals = { readonly login: string; readonly server: string; readonly dealIds: readonly bigint[] };

/** Looked up deal by deal, in the indexes that record each amendment and each correction once. */
export async function listAmendmentsOf(db: Queryable, { login, server, dealIds }: Deals): Promise<FoundAmendment[]> {
  return many<FoundAmendment>(
    db,
    sql`select wanted.deal_id as "dealId", newest.reason, newest.found_at as "foundAt", booked.amount as corrected
        from unnest(${dealIds}::bigint[]) as wanted (deal_id)
             cross join lateral (
               select amendment as reason, logged_at as found_at
               from log_entry
               where login = ${login} and server = ${server} and log_entry.deal_id = wanted.deal_id and kind = 'amendment'
               order by number desc
               limit 1
             ) as newest
             cross join lateral (
               select sum(amount_minor)::bigint as amount
               from log_entry
               where server = ${server} and corrected_deal_id = wanted.deal_id and login = ${login} and kind = 'correction'
             ) as booked`,
  );
}
