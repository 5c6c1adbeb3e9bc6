import { labelsText } from "#kernel/values/labels.ts";
import {
  allOf,
  execute,
  type Fragment,
  fragment,
  matchesRow,
  one,
  type Queryable,
  sql,
  withoutNulls,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Profile, ProfileKind, ProfileOwner } from "../domain/profile.ts";

const PROFILE = fragment`select email, labels from profile`;

export async function getProfile(db: Queryable, login: string): Promise<Profile> {
  return withoutNulls(await one<Profile>(db, sql`${PROFILE} where login = ${login}`));
}

/** No other transaction changes it before the end of this one. */
export async function lockProfile(tx: Transaction, login: string): Promise<Profile> {
  return withoutNulls(await one<Profile>(tx, sql`${PROFILE} where login = ${login} for update`));
}

/** Fails on this one when another account or request of the role has the external id. */
export const EXTERNAL_ID_INDEX = "profile_external_id";

/** Whether an account or a request of the role has the external id. */
export async function isExternalIdUsed(db: Queryable, kind: ProfileKind, externalId: string): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select from profile where labels ->> 'externalId' = ${externalId} and kind = ${kind}`,
  );
}

/** A concurrent one with the same external id waits for the end of this transaction. */
export async function insertProfile(
  tx: Transaction,
  { kind, login, operationId }: ProfileOwner,
  { email, labels }: Profile,
): Promise<void> {
  await execute(
    tx,
    sql`insert into profile (kind, login, operation_id, email, labels)
        values (${kind}, ${login}, ${operationId}, ${email}, ${labelsText(labels)}::jsonb)`,
  );
}

/** The profile of a request becomes that of its account. */
export async function moveProfile(tx: Transaction, operationId: string, login: string): Promise<void> {
  await execute(tx, sql`update profile set login = ${login} where operation_id = ${operationId}`);
}

export async function saveProfile(tx: Transaction, login: string, { email, labels }: Profile): Promise<void> {
  await execute(
    tx,
    sql`update profile set email = ${email}, labels = ${labelsText(labels)}::jsonb where login = ${login}`,
  );
}

/** Undefined matches all. */
export type AccountFilter = {
  readonly login?: string | undefined;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly externalId?: string | undefined;
  /** Half-open, of the creation. */
  readonly createdFrom?: Date | undefined;
  readonly createdTo?: Date | undefined;
};

/** `afterId` is that of the last account of the page before; 0 to begin. */
export type AccountPage = {
  readonly filter?: AccountFilter | undefined;
  readonly afterId: bigint;
  readonly limit: number;
};

/** Accounts with their profiles, ascending by id. */
export function withProfiles(accounts: Fragment, { filter = {}, afterId, limit }: AccountPage) {
  const { login, name, email, externalId, createdFrom, createdTo } = filter;
  return sql`
    select account.*, email, labels
    from (${accounts}) as account
    join profile using (login)
    where ${allOf([
      fragment`account.id > ${afterId}`,
      login === undefined ? undefined : fragment`account.login = ${login}`,
      name === undefined ? undefined : fragment`lower(account.name) = lower(${name})`,
      email === undefined ? undefined : fragment`lower(email) = lower(${email})`,
      externalId === undefined ? undefined : fragment`labels ->> 'externalId' = ${externalId}`,
      createdFrom && fragment`account."createdAt" >= ${createdFrom}`,
      createdTo && fragment`account."createdAt" < ${createdTo}`,
    ])}
    order by account.id
    limit ${limit}`;
}
