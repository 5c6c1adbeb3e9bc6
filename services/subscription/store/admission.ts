import { maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { UnopenState } from "../domain/admission.ts";

/** What account knows of the Master. */
type Known = { readonly login: string; readonly acceptingInvestors: boolean };

/**
 * Why a Master takes no Investors. Its closing is recorded here, and so is that its own capital is below zero: a dealer took more than there was,
 * or a result fell on it after the last Investor had left.
 */
export async function findAdmission(
  db: Queryable,
  { login: masterLogin, acceptingInvestors }: Known,
): Promise<{ readonly masterLogin: string; readonly state: UnopenState | undefined }> {
  const row = await maybeOne<{ closing: UnopenState | null; lacksMoney: boolean }>(
    db,
    sql`select case when closed_at is not null then 'archived' when closing_at is not null then 'closing' end as closing,
               own_waiting_minor + own_pooled_minor < 0 as "lacksMoney"
        from master_pool
        where login = ${masterLogin}`,
  );
  const ofPool = acceptingInvestors ? (row?.lacksMoney === true ? "lacks_money" : undefined) : "not_accepting";
  return { masterLogin, state: row?.closing ?? ofPool };
}
