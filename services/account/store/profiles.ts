import { execute, fragment, matchesRow, one, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Profile, ProfileKind, ProfileOwner } from "../domain/profile.ts";

const PROFILE = fragment`select email, external_id as "externalId", metadata from profile`;

export async function getProfile(db: Queryable, login: string): Promise<Profile> {
  return withoutNulls(await one<Profile>(db, sql`${PROFILE} where login = ${login}`));
}

/** No other transaction changes it before the end of this one. */
export async function lockProfile(tx: Transaction, login: string): Promise<Profile> {
  return withoutNulls(await one<Profile>(tx, sql`${PROFILE} where login = ${login} for update`));
}

/** Fails on this one when another account or request of the role has the external id. */
export const EXTERNAL_ID_CONSTRAINT = "profile_external_id";

/** Whether an account or a request of the role has the external id. */
export async function isExternalIdUsed(db: Queryable, kind: ProfileKind, externalId: string): Promise<boolean> {
  return await matchesRow(db, sql`select from profile where external_id = ${externalId} and kind = ${kind}`);
}

/** A concurrent one with the same external id waits for the end of this transaction. */
export async function insertProfile(
  tx: Transaction,
  { kind, login, operationId }: ProfileOwner,
  { email, externalId, metadata }: Profile,
): Promise<void> {
  await execute(
    tx,
    sql`insert into profile (kind, login, operation_id, email, external_id, metadata)
        values (${kind}, ${login}, ${operationId}, ${email}, ${externalId}, ${JSON.stringify(metadata)}::jsonb)`,
  );
}

/** The profile of a request becomes that of its account. */
export async function moveProfile(tx: Transaction, operationId: string, login: string): Promise<void> {
  await execute(tx, sql`update profile set login = ${login} where operation_id = ${operationId}`);
}

export async function saveProfile(
  tx: Transaction,
  login: string,
  { email, externalId, metadata }: Profile,
): Promise<void> {
  await execute(
    tx,
    sql`update profile
        set email = ${email}, external_id = ${externalId}, metadata = ${JSON.stringify(metadata)}::jsonb
        where login = ${login}`,
  );
}
