import { allOf, type Fragment, fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Investor } from "../domain/investor.ts";
import type { Master } from "../domain/master.ts";
import type { Profile, ProfileKind } from "../domain/profile.ts";
import { type MasterRow, masterOf } from "./masters.ts";
import { PROFILE_COLUMNS, profileOf, type ProfileRow } from "./profiles.ts";

export type AccountSearch = {
  readonly namePrefix: string | undefined;
  readonly email: string | undefined;
  readonly externalId: string | undefined;
  /** Half-open, of the creation. */
  readonly createdFrom: Date | undefined;
  readonly createdTo: Date | undefined;
  /** Id of the last account of the page before; 0 to begin. */
  readonly afterId: bigint;
  /** Its name on that page, if the list is in the order of names: it may have another one since. */
  readonly afterName: string | undefined;
  readonly limit: number;
};

type Table = {
  readonly kind: ProfileKind;
  readonly rows: Fragment;
  /** As in the index of the table. */
  readonly name: Fragment;
  readonly columns: Fragment;
};

const MASTERS: Table = {
  kind: "MASTER",
  rows: fragment`master account`,
  name: fragment`lower(account.name) collate "C"`,
  columns: fragment`account.id, account.login, account.payment_login as "paymentLogin", account.name, account.strategy_name as "strategyName",
                    account.strategy, account.min_deposit_minor as "minDepositMinor", account.created_at as "createdAt",
                    account.accepting_investors as "acceptingInvestors", account.accepting_since as "acceptingSince"`,
};

const INVESTORS: Table = {
  kind: "INVESTOR",
  rows: fragment`investor account`,
  name: fragment`lower(account.name) collate "C"`,
  columns: fragment`account.id, account.login, account.name, account.created_at as "createdAt"`,
};

export async function listMastersFound(
  db: Queryable,
  search: AccountSearch,
): Promise<(Profile & { readonly master: Master })[]> {
  const rows = await many<MasterRow & ProfileRow>(db, searchOf(MASTERS, search));
  return rows.map(({ email, externalId, metadata, ...master }) => ({
    master: masterOf(master),
    ...profileOf({ email, externalId, metadata }),
  }));
}

export async function listInvestorsFound(
  db: Queryable,
  search: AccountSearch,
): Promise<(Profile & { readonly investor: Investor })[]> {
  const rows = await many<Investor & ProfileRow>(db, searchOf(INVESTORS, search));
  return rows.map(({ email, externalId, metadata, ...investor }) => ({
    investor,
    ...profileOf({ email, externalId, metadata }),
  }));
}

/**
 * By name and id with a prefix of the name, else by creation, which never changes, and id: each order has an index that also has its filter. The accounts of an e-mail
 * address or an external id are few, and found first.
 */
function searchOf({ kind, rows, name, columns }: Table, search: AccountSearch) {
  const { namePrefix, email, externalId, createdFrom, createdTo, afterId, afterName, limit } = search;
  const key = namePrefix === undefined ? fragment`account.created_at, account.id` : fragment`${name}, account.id`;
  const place =
    namePrefix === undefined
      ? fragment`select ${key} from ${rows} where account.id = ${afterId}`
      : fragment`lower(${afterName}) collate "C", ${afterId}::bigint`;
  const conditions = allOf([
    namePrefix === undefined ? undefined : beginsWith(name, namePrefix),
    createdFrom && fragment`account.created_at >= ${createdFrom}`,
    createdTo && fragment`account.created_at < ${createdTo}`,
    afterId === 0n ? undefined : fragment`(${key}) > (${place})`,
  ]);
  const named = allOf([
    email === undefined ? undefined : fragment`account.login = any(array(${loginsOf(kind, email)}))`,
    externalId === undefined
      ? undefined
      : fragment`account.login = (select login from profile where kind = ${kind} and external_id = ${externalId})`,
  ]);
  // The offset keeps the planner from walking the order of the page in search of them.
  const isNamed = email !== undefined || externalId !== undefined;
  return sql`select ${columns}, ${PROFILE_COLUMNS}
      from ${isNamed ? fragment`(select * from ${rows} where ${named} offset 0) as account` : rows}
      left join profile on profile.login = account.login
      left join provisioning on provisioning.login = account.login and provisioning.state = 'ACTIVE'
      where ${conditions}
      order by ${key}
      limit ${limit}`;
}

/** Compared byte by byte: no character is above U+10FFFF. */
function beginsWith(name: Fragment, prefix: string): Fragment {
  return fragment`${name} >= lower(${prefix}) and ${name} < lower(${prefix}) || chr(1114111)`;
}

/** The address of a request counts until it was changed. */
function loginsOf(kind: ProfileKind, email: string): Fragment {
  return fragment`
    select login from profile where lower(email) = lower(${email}) and email is not null and kind = ${kind} and login is not null
    union all
    select login from provisioning
    where lower(email) = lower(${email}) and state = 'ACTIVE' and kind = ${kind}
      and not exists (select from profile where profile.login = provisioning.login and profile.email is not null)`;
}
