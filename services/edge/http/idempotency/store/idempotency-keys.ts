import { column, execute, matchesRow, maybeOne, type Queryable, sql, unnest } from "#kernel/postgres/query.ts";

/** IN_PROGRESS: not answered, or outcome unknown. DONE: it succeeded. REFUSED: proven that nothing was executed. */
export type CommandStatus = "IN_PROGRESS" | "DONE" | "REFUSED";

/** A client's key. */
export type IdempotencyKey = { readonly clientId: string; readonly key: string };

/** The command that a key stands for. */
export type StoredCommand = {
  readonly fingerprint: Buffer;
  readonly commandId: string;
  readonly status: CommandStatus;
  /** Until then a replica works on it: then its request has been answered, or its outcome is unknown. */
  readonly busyUntil: Date;
};

export type NewCommand = IdempotencyKey & Omit<StoredCommand, "status"> & { readonly createdAt: Date };

/** Of different keys. Returns the ids of the commands whose key stood for none before. */
export async function insertCommands(db: Queryable, fresh: readonly NewCommand[]): Promise<ReadonlySet<string>> {
  const inserted = await column<string>(
    db,
    sql`insert into idempotency_key (client_id, key, fingerprint, command_id, status, busy_until, created_at)
        select client_id, key, fingerprint, command_id, 'IN_PROGRESS', busy_until, created_at
        from ${unnest(fresh)} as fresh (
          client_id text, key text, fingerprint bytea, command_id text, busy_until timestamptz, created_at timestamptz
        )
        -- In one sequence, so that replicas with the same keys wait for each other in one direction only.
        order by client_id, key
        on conflict (client_id, key) do nothing
        returning command_id`,
  );
  return new Set(inserted);
}

export async function findCommand(
  db: Queryable,
  { clientId, key }: IdempotencyKey,
): Promise<StoredCommand | undefined> {
  return await maybeOne<StoredCommand>(
    db,
    sql`select fingerprint, command_id as "commandId", status, busy_until as "busyUntil"
        from idempotency_key
        where client_id = ${clientId} and key = ${key}`,
  );
}

/** Compare-and-set: of all requests that saw the same command, one may execute it again, or a new one after it. */
export async function takeOver(
  db: Queryable,
  { clientId, key }: IdempotencyKey,
  seen: StoredCommand,
  next: Pick<StoredCommand, "commandId" | "busyUntil">,
): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update idempotency_key
        set command_id = ${next.commandId}, busy_until = ${next.busyUntil}, status = 'IN_PROGRESS'
        where client_id = ${clientId} and key = ${key} and command_id = ${seen.commandId} and status = ${seen.status}
          and busy_until = ${seen.busyUntil}`,
  );
}

/** From now on its key stands for no command. */
export async function deleteCommand(db: Queryable, commandId: string): Promise<void> {
  await execute(db, sql`delete from idempotency_key where command_id = ${commandId}`);
}

export type AnsweredCommand = Pick<StoredCommand, "commandId" | "status"> & { readonly at: Date };

/** Of different commands: the outcomes for the next requests with their keys. */
export async function markAnswered(db: Queryable, answered: readonly AnsweredCommand[]): Promise<void> {
  await execute(
    db,
    sql`update idempotency_key
        set status = answered.status, busy_until = answered.at
        from ${unnest(answered)} as answered (command_id text, status text, at timestamptz)
        where idempotency_key.command_id = answered.command_id`,
  );
}
