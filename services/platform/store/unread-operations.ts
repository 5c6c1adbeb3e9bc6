import { one, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";

/** Further back only the widest reading looks, and what it does not find is told as gone. */
const BACK_HOURS = 1;

/**
 * Whether a Master's own operation is applied before this instant and its deal stands in no log yet, because no reading
 * has shown it.
 */
export async function hasUnreadBefore(db: Queryable, server: string, login: string, before: Date): Promise<boolean> {
  const { has } = await one<{ has: boolean }>(
    db,
    sql`select exists (
          select
          from operation
          join account on account.login = operation.login
          where operation.login = ${login} and account.role = 'master' and operation.server = ${server}
            and deal_id is not null and state = 'APPLIED' and applied_at < ${before}::timestamptz
            and applied_at > ${before}::timestamptz - ${BACK_HOURS} * interval '1 hour'
            and not exists (
              select
              from log_entry
              where log_entry.server = operation.server and log_entry.deal_id = operation.deal_id
                and log_entry.kind <> 'irregularity'
            )
        ) as has`,
  );
  return has;
}
