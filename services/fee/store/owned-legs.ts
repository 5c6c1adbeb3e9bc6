import { MAX_AMOUNT } from "#kernel/money.ts";
import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { OwnedLeg } from "#kernel/reconcile/find-transfers.ts";

/** Debit and credit of the payments with these keys, as they are requested: at most the largest transfer. SQL of its own, because a check reads it. */
export async function listOwnedLegs(db: Queryable, keys: readonly string[]): Promise<OwnedLeg[]> {
  return await many<OwnedLeg>(
    db,
    sql`select key, leg.login, leg.kind, leg.sign * least(due_minor - prepaid_minor, ${MAX_AMOUNT.minor}::bigint) as "amountMinor"
        from fee_payment
        cross join lateral (
          values (1, investor_login, 'fee_debit', -1), (2, payment_account_login, 'fee_credit', 1)
        ) as leg (ordinal, login, kind, sign)
        where key = any (${keys}::text[])
        order by id, leg.ordinal`,
  );
}
