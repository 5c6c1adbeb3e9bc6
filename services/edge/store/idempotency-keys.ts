import { execute, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";

/** GIVEN: not answered, or nobody knows what came of it. DONE: it succeeded. REFUSED: surely nothing was done. */
export type GivenState = "GIVEN" | "DONE" | "REFUSED";

/** A client's key. */
export type IdempotencyKey = { readonly keyId: string; readonly key: string };

/** The command that a key stands for. */
export type GivenCommand = {
  readonly fingerprint: Buffer;
  readonly commandId: string;
  readonly state: GivenState;
  /** Until then somebody is at work on it. */
  readonly busyUntil: Date;
};

export type NewCommand = IdempotencyKey & Omit<GivenCommand, "state"> & { readonly at: Date };

/** False when the key stands for a command already. */
export async function insertGivenCommand(db: Queryable, fresh: NewCommand): Promise<boolean> {
  const { keyId, key, fingerprint, commandId, busyUntil, at } = fresh;
  const inserted = await execute(
    db,
    sql`insert into idempotency_key (key_id, key, fingerprint, command_id, state, busy_until, created_at)
        values (${keyId}, ${key}, ${fingerprint}, ${commandId}, 'GIVEN', ${busyUntil}, ${at})
        on conflict (key_id, key) do nothing`,
  );
  return inserted === 1;
}

export async function findGivenCommand(
  db: Queryable,
  { keyId, key }: IdempotencyKey,
): Promise<GivenCommand | undefined> {
  return await maybeOne<GivenCommand>(
    db,
    sql`select fingerprint, command_id as "commandId", state, busy_until as "busyUntil"
        from idempotency_key
        where key_id = ${keyId} and key = ${key}`,
  );
}

/** Compare-and-set: of all who have seen the same command, one may give it again, or another one after it. */
export async function takeOver(
  db: Queryable,
  { keyId, key }: IdempotencyKey,
  seen: GivenCommand,
  next: Pick<GivenCommand, "commandId" | "busyUntil">,
): Promise<boolean> {
  const changed = await execute(
    db,
    sql`update idempotency_key
        set command_id = ${next.commandId}, busy_until = ${next.busyUntil}, state = 'GIVEN'
        where key_id = ${keyId} and key = ${key} and command_id = ${seen.commandId} and state = ${seen.state}
          and busy_until = ${seen.busyUntil}`,
  );
  return changed === 1;
}

/** What came of the command, for whoever sends the key again. */
export async function markAnswered(
  db: Queryable,
  commandId: string,
  answered: { readonly state: GivenState; readonly at: Date },
): Promise<void> {
  await execute(
    db,
    sql`update idempotency_key set state = ${answered.state}, busy_until = ${answered.at} where command_id = ${commandId}`,
  );
}

/** The oldest first; answers how many were forgotten. */
export async function forgetGivenCommands(db: Queryable, before: Date, limit: number): Promise<number> {
  return await execute(
    db,
    sql`delete from idempotency_key
        where (key_id, key) in (select key_id, key from idempotency_key
                                where created_at < ${before}
                                order by created_at
                                limit ${limit})`,
  );
}
