import { execute, type Queryable, sql } from "#kernel/postgres/query.ts";

/** The answer that the caller got; `refusal` is undefined after a success. */
export async function markUnassignmentEnded(
  db: Queryable,
  commandId: string,
  end: { readonly at: Date; readonly refusal: string | undefined },
): Promise<void> {
  await execute(
    db,
    sql`update unassignment set ended_at = ${end.at}, refusal = ${end.refusal}::jsonb where command_id = ${commandId}`,
  );
}
