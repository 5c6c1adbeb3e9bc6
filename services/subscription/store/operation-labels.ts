import { type Labels, labelsText } from "#kernel/labels.ts";
import { execute, type Queryable, sql } from "#kernel/postgres/query.ts";

/** What its client calls a command, recorded before anything else of it. A repeated command has those of the first one. */
export async function insertOperationLabels(
  db: Queryable,
  commandId: string,
  labels: Labels | undefined,
): Promise<void> {
  const text = labelsText(labels);
  if (text === undefined || commandId === "") return;
  await execute(
    db,
    sql`insert into operation_label (command_id, labels) values (${commandId}, ${text}::jsonb) on conflict do nothing`,
  );
}
