import { execute, fragment, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Expression: an instant in the past while an unassign lacks its Master. */
export const nextWithoutMaster = fragment`(
  select '-infinity'::timestamptz from unassignment where master_login is null limit 1
)`;

/** Copies the Masters of some unassigns that lack them, and returns their number. */
export async function copyMasters(db: Queryable, limit: number): Promise<number> {
  return await execute(
    db,
    sql`update unassignment
        set master_login = subscription.master_login
        from subscription
        where subscription.id = unassignment.subscription_id
          and unassignment.command_id = any(array(
            select command_id from unassignment
            where master_login is null
            order by command_id collate "C"
            limit ${limit}
            for update skip locked
          ))`,
  );
}
