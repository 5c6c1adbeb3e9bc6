import type { Labels } from "#kernel/labels.ts";
import { execute, type Queryable, sql } from "#kernel/postgres/query.ts";

/** A repeated command has those of the first one. */
export async function insertOperationLabels(
  db: Queryable,
  commandId: string,
  { externalId, metadata }: Labels,
): Promise<void> {
  await execute(
    db,
    sql`insert into operation_label (command_id, external_id, metadata)
        values (${commandId}, ${externalId}, ${JSON.stringify(metadata)}::jsonb)
        on conflict do nothing`,
  );
}
