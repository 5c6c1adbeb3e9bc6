import type { Labels } from "#kernel/labels.ts";
import { execute, many, type Queryable, sql } from "#kernel/postgres/query.ts";

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

/** Those of the commands, by their ids. */
export async function listOperationLabels(
  db: Queryable,
  commandIds: readonly string[],
): Promise<ReadonlyMap<string, Labels>> {
  if (commandIds.length === 0) return new Map();
  const rows = await many<{
    readonly commandId: string;
    readonly externalId: string | null;
    readonly metadata: Labels["metadata"];
  }>(
    db,
    sql`select command_id as "commandId", external_id as "externalId", metadata
        from operation_label
        where command_id = any(${commandIds}::text[])`,
  );
  return new Map(
    rows.map(({ commandId, externalId, metadata }) => [commandId, { externalId: externalId ?? undefined, metadata }]),
  );
}
