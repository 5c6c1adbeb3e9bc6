import { execute, matchesRow, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";

/** IN_PROGRESS: not answered, or outcome unknown. DONE: it succeeded. REFUSED: proven that nothing was executed. */
export type CommandStatus = "IN_PROGRESS" | "DONE" | "REFUSED";

/** A client's key. */
export type IdempotencyKey = { readonly keyId: string; readonly key: string };

/** The command that a key stands for. */
export type StoredCommand = {
  readonly fingerprint: Buffer;
  readonly commandId: string;
  readonly status: CommandStatus;
  /** Until then a replica works on it. */
  readonly busyUntil: Date;
};

export type NewCommand = IdempotencyKey & Omit<StoredCommand, "status"> & { readonly at: Date };

/** False when the key stands for a command already. */
export async function insertCommand(db: Queryable, fresh: NewCommand): Promise<boolean> {
  const { keyId, key, fingerprint, commandId, busyUntil, at } = fresh;
  return await matchesRow(
    db,
    sql`insert into idempotency_key (key_id, key, fingerprint, command_id, status, busy_until, created_at)
        values (${keyId}, ${key}, ${fingerprint}, ${commandId}, 'IN_PROGRESS', ${busyUntil}, ${at})
        on conflict (key_id, key) do nothing`,
  );
}

export async function findCommand(db: Queryable, { keyId, key }: IdempotencyKey): Promise<StoredCommand | undefined> {
  return await maybeOne<StoredCommand>(
    db,
    sql`select fingerprint, command_id as "commandId", status, busy_until as "busyUntil"
        from idempotency_key
        where key_id = ${keyId} and key = ${key}`,
  );
}

/** Compare-and-set: of all requests that saw the same command, one may execute it again, or a new one after it. */
export async function takeOver(
  db: Queryable,
  { keyId, key }: IdempotencyKey,
  seen: StoredCommand,
  next: Pick<StoredCommand, "commandId" | "busyUntil">,
): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update idempotency_key
        set command_id = ${next.commandId}, busy_until = ${next.busyUntil}, status = 'IN_PROGRESS'
        where key_id = ${keyId} and key = ${key} and command_id = ${seen.commandId} and status = ${seen.status}
          and busy_until = ${seen.busyUntil}`,
  );
}

/** Records the outcome for the next request with the key. */
export async function markAnswered(
  db: Queryable,
  commandId: string,
  answered: { readonly status: CommandStatus; readonly at: Date },
): Promise<void> {
  await execute(
    db,
    sql`update idempotency_key set status = ${answered.status}, busy_until = ${answered.at} where command_id = ${commandId}`,
  );
}

/** The oldest first; returns the number of deleted rows. */
export async function deleteCommandsBefore(db: Queryable, before: Date, limit: number): Promise<number> {
  return await execute(
    db,
    sql`delete from idempotency_key
        where (key_id, key) in (select key_id, key from idempotency_key
                                where created_at < ${before}
                                order by created_at
                                limit ${limit})`,
  );
}
