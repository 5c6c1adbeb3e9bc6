import { type Money, usd } from "#kernel/values/money.ts";
import {
  execute,
  fragment,
  many,
  matchesRow,
  type Queryable,
  sql,
  type Statement,
  withoutNulls,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { LostMovement } from "../domain/lost-movement.ts";
import { HISTORY_CHANGED } from "../domain/review-actions.ts";
import type { Role } from "../domain/role.ts";
import { listLostMovements } from "./lost-movements.ts";

/** The row of a managed login. */
export type Account = {
  readonly login: string;
  readonly role: Role;
  readonly group: string;
  /** The opening balance covers all deals before this instant. */
  readonly readsFrom: Date;
  readonly logNumber: bigint;
  readonly logBalance: Money;
  readonly undecidedFrom: Date | undefined;
  readonly accountLock: AccountLock | undefined;
  /** Facts are being read: no permit is granted. */
  readonly isBeingRead: boolean;
  /** Set when legs of it were lost with commits of the database: those of the last days that callers may repeat. */
  readonly lost: readonly LostMovement[] | undefined;
  /** Permits were resumed in another database before all its deals were in the log: no permit is granted until they are. */
  readonly mayLackDeals: boolean;
  /** No permit is granted for its transfers until operators decide. */
  readonly isStopped: boolean;
  /** The platform does not show it, and it has no money: nothing is sent on it until it is shown again. */
  readonly isArchived: boolean;
  /** The platform does not show it, which may not be confirmed yet. */
  readonly isUnshown: boolean;
  /** When the row was read, by the clock of the database: the clock of a process may be changed while it runs. */
  readonly seenAt: Date;
};

export type AccountLock = {
  readonly lockOwner: string;
  /** Legs with a lower number were recorded before the lock, which waits for them; 0 once it is granted. */
  readonly admitsBefore: bigint;
  readonly isGranted: boolean;
};

type AccountRow = Omit<Account, "logBalance" | "accountLock" | "lost"> & {
  readonly hasLostMovements: boolean;
  readonly logMinor: bigint;
  readonly lockedBy: string | undefined;
  readonly lockNumber: bigint | undefined;
  readonly isGranted: boolean;
};

type NewAccount = Pick<Account, "login" | "role" | "group" | "readsFrom"> & {
  readonly openingEntryId: bigint;
  readonly opening: Money;
};

export async function insertAccount(tx: Transaction, account: NewAccount): Promise<void> {
  await execute(
    tx,
    sql`insert into account (login, role, platform_group, reads_from, log_number, log_entry_id, log_minor)
        values (${account.login}, ${account.role}, ${account.group}, ${account.readsFrom}, 0,
                ${account.openingEntryId}, ${account.opening.minor})`,
  );
}

const ACCOUNTS = fragment`
  select login, role, platform_group as "group", reads_from as "readsFrom", log_number as "logNumber",
         log_minor as "logMinor", undecided_from as "undecidedFrom", locked_by as "lockedBy", lock_number as "lockNumber",
         lock_granted_at is not null as "isGranted", coalesce(reading_until > clock_timestamp(), false) as "isBeingRead",
         has_lost_movements as "hasLostMovements", may_lack_deals as "mayLackDeals", stopped_reason is not null as "isStopped",
         archived_at is not null as "isArchived", unshown_since is not null as "isUnshown", clock_timestamp() as "seenAt"
  from account`;

/** Locks the row until commit: serialises permits, account locks and log positions of a login. */
export async function lockAccount(tx: Transaction, login: string): Promise<Account | undefined> {
  return (await lockAccounts(tx, [login])).get(login);
}

/** Locks several accounts in the order of their logins, so that two transactions never deadlock. */
export async function lockAccounts(tx: Transaction, logins: readonly string[]): Promise<ReadonlyMap<string, Account>> {
  return await readAccounts(
    tx,
    sql`${ACCOUNTS} where login = any (${logins}::text[]) order by login for no key update`,
  );
}

/** Like `lockAccounts`, but leaves out accounts that another transaction has locked. */
export async function lockFreeAccounts(
  tx: Transaction,
  logins: readonly string[],
): Promise<ReadonlyMap<string, Account>> {
  return await readAccounts(
    tx,
    sql`${ACCOUNTS} where login = any (${logins}::text[]) order by login for no key update skip locked`,
  );
}

export async function listAccounts(db: Queryable, logins: readonly string[]): Promise<ReadonlyMap<string, Account>> {
  if (logins.length === 0) return new Map();
  return await readAccounts(db, sql`${ACCOUNTS} where login = any (${logins}::text[])`);
}

async function readAccounts(db: Queryable, statement: Statement): Promise<ReadonlyMap<string, Account>> {
  const rows = await many<AccountRow>(db, statement);
  const lost = await listLostMovements(
    db,
    rows.flatMap(({ login, hasLostMovements }) => (hasLostMovements ? login : [])),
  );
  return new Map(rows.map((row) => [row.login, accountOf(row, lost)]));
}

export async function findAccount(db: Queryable, login: string): Promise<Account | undefined> {
  return (await listAccounts(db, [login])).get(login);
}

/** Whether a leg of the login waits or has no certain outcome, a saga has its account lock, or its changed history is not decided. */
export async function hasOpenOperation(db: Queryable, login: string): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select from leg where login = ${login} and state = 'INTENT' and is_ready
        union all
        select from leg where login = ${login} and state in ('SENDING', 'UNKNOWN', 'REVIEW')
        union all
        select from account where login = ${login} and locked_by is not null
        union all
        select from review_case where login = ${login} and reason = ${HISTORY_CHANGED} and state in ('OPEN', 'PROPOSED')`,
  );
}

/** A managed account, as the reader of the history knows it. */
export type ManagedAccount = {
  readonly login: string;
  readonly role: Role;
  /** As the platform showed it when the account was taken under management. */
  readonly group: string;
  readonly managedAt: Date;
};

/** The next page of managed accounts in the order of their logins, without those that the platform does not show. */
export async function listManaged(db: Queryable, after: string, limit: number): Promise<ManagedAccount[]> {
  return await many<ManagedAccount>(
    db,
    sql`select login, role, platform_group as "group", managed_at as "managedAt"
        from account
        where login > ${after} and unshown_since is null
        order by login
        limit ${limit}`,
  );
}

/** The platform shows the account in another group. */
export async function noteGroup(db: Queryable, login: string, group: string): Promise<void> {
  await execute(db, sql`update account set platform_group = ${group} where login = ${login}`);
}

/** Without an instant all deals of the login are in its log. */
export async function setUndecidedFrom(tx: Transaction, login: string, from: Date | undefined): Promise<void> {
  await execute(
    tx,
    sql`update account
        set undecided_from = ${from ?? null}, may_lack_deals = may_lack_deals and ${from !== undefined}::boolean
        where login = ${login}`,
  );
}

/** Grants no permit on accounts whose deals are not all in the log, until they are. The rows are locked in the order of all transactions. */
export async function fenceUndecided(tx: Transaction): Promise<void> {
  await execute(
    tx,
    sql`with locked as materialized (
          select login from account where undecided_from is not null order by login for no key update
        )
        update account
        set may_lack_deals = true
        from locked
        where account.login = locked.login`,
  );
}

/** Makes every read of the login begin at this instant, until its deals are in the log. */
export async function readAgainFrom(db: Queryable, login: string, from: Date): Promise<void> {
  await execute(
    db,
    sql`update account set undecided_from = least(coalesce(undecided_from, ${from}), ${from}) where login = ${login}`,
  );
}

/** Blocks permits of the login for `ms`; false when it is not managed. The token identifies this read, so that `endReading` does not end a later one. */
export async function beginReading(db: Queryable, login: string, token: string, ms: number): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update account
        set reading_until = clock_timestamp() + ${ms} * interval '1 millisecond', reading_token = ${token},
            read_at = clock_timestamp()
        where login = ${login}`,
  );
}

export async function endReading(db: Queryable, login: string, token: string): Promise<void> {
  await execute(
    db,
    sql`update account
        set reading_until = null, reading_token = null
        where login = ${login} and reading_token = ${token}`,
  );
}

function accountOf(row: AccountRow, lostOfAll: readonly LostMovement[]): Account {
  const { logMinor, lockedBy: lockOwner, lockNumber, isGranted, hasLostMovements, ...account } = withoutNulls(row);
  const admitsBefore = isGranted ? 0n : lockNumber;
  const accountLock =
    lockOwner === undefined || admitsBefore === undefined ? undefined : { lockOwner, admitsBefore, isGranted };
  const lost = hasLostMovements ? lostOfAll.filter(({ login }) => login === row.login) : undefined;
  return { ...account, logBalance: usd(logMinor), accountLock, lost };
}
