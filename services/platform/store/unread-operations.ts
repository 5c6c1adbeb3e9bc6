import { one, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";

/** Longer than any deal is shown late; what is not shown by then is told as gone, and holds nothing up meanwhile. */
const BACK_MINUTES = 10;

/**
 * Whether a Master's own operation was applied before this instant and its deal stands in no log yet, because no reading
 * has shown it. It asks by the time of the database: when the platform applied it is told by the clock of a process.
 */
export async function hasUnreadBefore(db: Queryable, server: string, login: string, before: Date): Promise<boolean> {
  const { has } = await one<{ has: boolean }>(
    db,
    sql`select exists (
          select
          from operation
          join account on account.login = operation.login
          where operation.login = ${login} and account.role = 'master' and operation.server = ${server}
            and operation.deal_id is not null and operation.state = 'APPLIED' and operation.changed_at < ${before}::timestamptz
            and operation.changed_at > ${before}::timestamptz - ${BACK_MINUTES} * interval '1 minute'
            and operation.applied_at > ${before}::timestamptz - ${BACK_MINUTES} * interval '1 minute'
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
