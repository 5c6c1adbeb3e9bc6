import { type Labels, NO_LABELS } from "#kernel/labels.ts";
import { execute, fragment, matchesRow, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Profile, ProfileKind, ProfileOwner } from "../domain/profile.ts";

export type ProfileRow = {
  readonly externalId: string | null;
  readonly metadata: Labels["metadata"] | null;
  readonly email: string | null;
};

/** Columns and joins that add its profile to each row of a table of accounts. */
export const PROFILE_COLUMNS = fragment`
  profile.external_id as "externalId", profile.metadata, coalesce(profile.email, provisioning.email) as email`;

export function profileOf({ externalId, metadata, email }: ProfileRow): Profile {
  return {
    email: email ?? undefined,
    labels: { externalId: externalId ?? undefined, metadata: metadata ?? NO_LABELS.metadata },
  };
}

export async function findProfile(db: Queryable, kind: ProfileKind, login: string): Promise<Profile> {
  const row = await maybeOne<ProfileRow>(
    db,
    sql`select ${PROFILE_COLUMNS}
        from account
        left join profile on profile.login = account.login
        left join provisioning on provisioning.login = account.login and provisioning.state = 'ACTIVE'
        where account.login = ${login} and account.kind = ${kind}`,
  );
  return row === undefined ? { email: undefined, labels: NO_LABELS } : profileOf(row);
}

/** Fails on this one when another account or request of the role has the external id. */
export const EXTERNAL_ID_CONSTRAINT = "profile_external_id";

/** Whether another account or request of the role has the external id. */
export async function isExternalIdUsed(db: Queryable, kind: ProfileKind, externalId: string): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select from profile where kind = ${kind} and external_id = ${externalId} and not ${IS_REFUSED}`,
  );
}

/** The request for an account was refused, so that it does not need its external id any more. */
const IS_REFUSED = fragment`exists (
  select from provisioning where provisioning.operation_id = profile.operation_id and state = 'FAILED'
)`;

/** What comes with a registration or with a request for an account. A concurrent one with the same external id waits for its end. */
export async function insertProfile(
  tx: Transaction,
  { kind, login, operationId }: ProfileOwner,
  { externalId, metadata }: Labels,
): Promise<void> {
  await releaseExternalId(tx, kind, externalId);
  await execute(
    tx,
    sql`insert into profile (kind, login, operation_id, external_id, metadata)
        values (${kind}, ${login}, ${operationId}, ${externalId}, ${JSON.stringify(metadata)}::jsonb)`,
  );
}

/** The labels of an account, whose profile no other transaction changes before the end of this one. */
export async function lockLabels(tx: Transaction, kind: ProfileKind, login: string): Promise<Labels> {
  await execute(tx, sql`insert into profile (kind, login) values (${kind}, ${login}) on conflict (login) do nothing`);
  const row = await one<Pick<ProfileRow, "externalId" | "metadata">>(
    tx,
    sql`select external_id as "externalId", metadata from profile where login = ${login} for update`,
  );
  return profileOf({ ...row, email: null }).labels;
}

/** The profile must be locked. Without an e-mail address it keeps the one that it has. */
export async function saveProfile(
  tx: Transaction,
  { kind, login }: { readonly kind: ProfileKind; readonly login: string },
  { email, labels: { externalId, metadata } }: Profile,
): Promise<void> {
  await releaseExternalId(tx, kind, externalId);
  await execute(
    tx,
    sql`update profile
        set external_id = ${externalId}, metadata = ${JSON.stringify(metadata)}::jsonb, email = coalesce(${email}, email)
        where login = ${login}`,
  );
}

async function releaseExternalId(tx: Transaction, kind: ProfileKind, externalId: string | undefined): Promise<void> {
  if (externalId === undefined) return;
  await execute(
    tx,
    sql`delete from profile where kind = ${kind} and external_id = ${externalId} and login is null and ${IS_REFUSED}`,
  );
}

/** The profile of a request becomes that of its account. */
export async function moveProfile(tx: Transaction, operationId: string, login: string): Promise<void> {
  await execute(tx, sql`update profile set login = ${login} where operation_id = ${operationId}`);
}
