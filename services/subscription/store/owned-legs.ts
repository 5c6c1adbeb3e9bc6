import { many, type Queryable, sql, withoutNulls, unnest } from "#kernel/postgres/query.ts";
import type { OwnedLeg } from "#kernel/reconcile/find-transfers.ts";
import { operationOfKey } from "../domain/departure.ts";
import { readPostingKey } from "../domain/posting.ts";

/**
 * The mirrors, postings, exit transfers and payouts with these keys. A posting that has ended has no amount: it was compared with its log entry when that
 * was filed. SQL of its own, because a check reads it.
 */
export async function listOwnedLegs(db: Queryable, keys: readonly string[]): Promise<OwnedLeg[]> {
  const postings = keys.flatMap((key) => {
    const posting = readPostingKey(key);
    return posting === undefined ? [] : { ...posting, key };
  });
  const payouts = keys.flatMap((key) => {
    const id = operationOfKey(key);
    return id === undefined ? [] : { id, key };
  });
  const legs = await many<OwnedLeg>(
    db,
    sql`select key, master_login as login, 'mirror' as kind, amount_minor as "amountMinor"
        from mirror
        where key = any (${keys}::text[])
        union all
        select asked.key, account.login, 'result', case when asked.number = posting_number then posting_minor end
        from ${unnest(postings)} as asked (key text, login text, number bigint)
        join investor_account as account on account.login = asked.login
        where asked.number <= posting_number and asked.number <> all (unrequested_postings)
        union all
        select key, master_login, 'exit', -amount_minor from exit_transfer where key = any (${keys}::text[])
        union all
        select asked.key, investor_login, 'withdrawal', -effective_minor
        from ${unnest(payouts)} as asked (key text, id text)
        join departure on operation_id = id
        where kind = 'WITHDRAWAL' and effective_minor > 0`,
  );
  return legs.map(withoutNulls);
}
