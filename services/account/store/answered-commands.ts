import { execute, maybeOne, sql, type Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** With what the command does, in one commit; fails when the command was carried out before. */
export async function insertAnsweredCommand(
  tx: Transaction,
  { commandId, subjectId, at }: { readonly commandId: string; readonly subjectId: bigint; readonly at: Date },
): Promise<void> {
  if (commandId === "") return;
  await execute(
    tx,
    sql`insert into answered_command (command_id, subject_id, answered_at) values (${commandId}, ${subjectId}, ${at})`,
  );
}

/** The Master or Investor that a command was about, if it was carried out. */
export async function findAnsweredSubject(db: Queryable, commandId: string): Promise<bigint | undefined> {
  const row = await maybeOne<{ subject_id: bigint }>(
    db,
    sql`select subject_id from answered_command where command_id = ${commandId}`,
  );
  return row?.subject_id;
}
