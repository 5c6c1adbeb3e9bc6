import { allOf, type Fragment, fragment, many, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { Profile } from "../domain/profile.ts";
import { INVESTORS } from "./investors.ts";
import { type MasterRow, masterOf } from "./masters.ts";
import type { Investor, Master } from "../domain/master.ts";

export type AccountSearch = {
  readonly namePrefix?: string | undefined;
  readonly email?: string | undefined;
  readonly externalId?: string | undefined;
  /** Half-open, of the creation. */
  readonly createdFrom: Date | undefined;
  readonly createdTo: Date | undefined;
  /** Id of the last account of the page before; 0 to begin. */
  readonly afterId: bigint;
  /** Its name on that page, if the list is in the order of names: it may have another one since. */
  readonly afterName?: string | undefined;
  readonly limit: number;
};

export async function listMastersFound(db: Queryable, search: AccountSearch): Promise<(Master & Profile)[]> {
  const rows = await many<MasterRow & Profile>(db, found(fragment`select * from master_row`, search));
  return rows.map(masterOf);
}

export async function listInvestorsFound(db: Queryable, search: AccountSearch): Promise<(Investor & Profile)[]> {
  const rows = await many<Investor & Profile>(db, found(INVESTORS, search));
  return rows.map(withoutNulls);
}

const NAME = fragment`lower(account.name) collate "C"`;
const CREATED = fragment`account."createdAt"`;
/** Of no index: the planner would read all rows of a long period to combine them with those of a name. */
const CREATED_UNINDEXED = fragment`(account."createdAt" + interval '0')`;

/** By name and id with a prefix of the name, else by creation, which never changes, and id. An index has each order. */
function found(accounts: Fragment, search: AccountSearch) {
  const { namePrefix, email, externalId, createdFrom, createdTo, afterId, limit } = search;
  const created = namePrefix === undefined ? CREATED : CREATED_UNINDEXED;
  return sql`
    select account.*, profile.email, profile.external_id as "externalId", profile.metadata
    from (${accounts}) as account
    join profile using (login)
    where ${allOf([
      namePrefix === undefined ? undefined : beginsWith(namePrefix),
      email === undefined ? undefined : fragment`lower(profile.email) = lower(${email})`,
      externalId === undefined ? undefined : fragment`profile.external_id = ${externalId}`,
      createdFrom && fragment`${created} >= ${createdFrom}`,
      createdTo && fragment`${created} < ${createdTo}`,
      afterId === 0n ? undefined : isAfter(accounts, search),
    ])}
    order by ${namePrefix === undefined ? CREATED : NAME}, account.id
    limit ${limit}`;
}

/** Compared byte by byte: no character is above U+10FFFF. */
function beginsWith(prefix: string): Fragment {
  return fragment`${NAME} >= lower(${prefix}) and ${NAME} < lower(${prefix}) || chr(1114111)`;
}

function isAfter(accounts: Fragment, { namePrefix, afterId, afterName }: AccountSearch): Fragment {
  return namePrefix === undefined
    ? fragment`(${CREATED}, account.id) > (select "createdAt", id from (${accounts}) as account where id = ${afterId})`
    : fragment`(${NAME}, account.id) > (lower(${afterName}), ${afterId}::bigint)`;
}
