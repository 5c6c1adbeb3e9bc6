import { execute, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

export type NewUnassignment = {
  readonly commandId: string;
  readonly subscriptionId: bigint;
  readonly at: Date;
  readonly deadlineAt: Date;
};

/** Records a command with its first try, and its new deadline with every further try. */
export async function recordUnassignment(tx: Transaction, fresh: NewUnassignment): Promise<void> {
  const { commandId, subscriptionId, at, deadlineAt } = fresh;
  if (commandId === "") return;
  await execute(
    tx,
    sql`insert into unassignment (command_id, subscription_id, requested_at, deadline_at)
        values (${commandId}, ${subscriptionId}, ${at}, ${deadlineAt})
        on conflict (command_id) do update
        set deadline_at = excluded.deadline_at, refusal = null, ended_at = null`,
  );
}

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
