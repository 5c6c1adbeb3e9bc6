import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { Mt5Error } from "../mt5/errors.ts";
import type { User } from "../mt5/users.ts";
import { lockAccount, noteGroup } from "../store/accounts.ts";
import {
  countMissed,
  listNotedUnshown,
  markArchived,
  markShown,
  markUnshown,
  type Missed,
  noteRegistrations,
  type Registered,
} from "../store/unshown-accounts.ts";
import { closeReplaced, isSameAccount } from "./replaced-account.ts";

/** What a reading of accounts has shown. */
type Reading = {
  readonly shown: readonly string[];
  readonly unshown: readonly string[];
};

/**
 * Notes which accounts the platform does not show, of those without money and anything in progress, and which it shows again. Returns those that
 * were shown until now.
 */
export async function noteReading(deps: Deps, { shown, unshown }: Reading): Promise<readonly string[]> {
  for (const { login } of await listNotedUnshown(deps.pool, shown)) await noteShown(deps, login);
  const marked = await markUnshown(deps.pool, unshown);
  if (marked.length > 0) {
    deps.log.info("accounts without money are not shown, archived when that is confirmed", { count: marked.length });
  }
  return marked;
}

/** Accounts with their recorded groups, and those of them that the platform shows. */
export type ReadAccounts = {
  readonly accounts: readonly (Registered & { readonly group: string })[];
  readonly users: ReadonlyMap<string, Pick<User, "group" | "registration">>;
};

/** Notes what a run of the check was shown of the accounts, and archives those that two runs in a row were not. Returns those without money that it was not shown. */
export async function noteAccounts(deps: Deps, { accounts, users }: ReadAccounts): Promise<ReadonlySet<string>> {
  for (const { login, group } of accounts) {
    const shown = users.get(login)?.group ?? group;
    if (shown !== group) await noteGroup(deps.pool, login, shown);
  }
  const logins = accounts.map(({ login }) => login);
  const reading = { shown: [...users.keys()], unshown: logins.filter((login) => !users.has(login)) };
  await noteCreated(deps, { accounts, users });
  await noteReading(deps, reading);
  await archiveMissed(deps, reading);
  const away = await listNotedUnshown(deps.pool, logins);
  return new Set(away.flatMap(({ login, hasNoMoney }) => (hasNoMoney ? login : [])));
}

/** Notes when the accounts were created. One that was created again since may be another one. */
async function noteCreated(deps: Deps, { accounts, users }: ReadAccounts): Promise<void> {
  const noted: Registered[] = [];
  for (const { login, registration } of accounts) {
    const user = users.get(login);
    if (user === undefined || user.registration === 0n || user.registration === registration) continue;
    const isSame = registration === null || (await isSameAccount(deps, login));
    if (isSame) noted.push({ login, registration: user.registration });
  }
  await noteRegistrations(deps.pool, noted);
}

/** Asks the platform for accounts that a list of it lacks. */
export async function readUnlisted(deps: Deps, logins: readonly string[]): Promise<readonly string[]> {
  const { users, unreadable } = await deps.mt5.readUsers(logins);
  const unshown = logins.filter((login) => !users.has(login) && !unreadable.has(login));
  return await noteReading(deps, { shown: [...users.keys()], unshown });
}

/** The platform shows the login again. It is the account that was not shown when its deals are shown too. False when it is another one, or that is not known. */
export async function noteShown(deps: Deps, login: string): Promise<boolean> {
  const { pool, log, freshDeals, legsSignal } = deps;
  if (!(await isSameAccount(deps, login))) return false;
  const isChanged = await inTransaction(pool, async (tx) => {
    await closeReplaced(tx, login);
    return await markShown(tx, login);
  });
  if (!isChanged) return true;
  log.info("account is shown again, its history is read", { login });
  freshDeals.add(login);
  // What waited for it.
  legsSignal.notify();
  return true;
}

/**
 * Archives accounts that two runs of the check in a row were not shown. It counts only while the platform shows the manager their group and
 * another account: a manager that has lost its rights, or a server that starts, shows nothing. The next run tries again.
 */
async function archiveMissed(deps: Deps, { shown, unshown }: Reading): Promise<void> {
  const missed = await countMissed(deps.pool, unshown);
  const [witness] = shown;
  if (missed.length === 0 || witness === undefined) return;
  const confirmed = await ofShownGroups(deps, missed);
  if (confirmed.length === 0 || !(await isShown(deps.mt5.getUser(witness)))) return;
  for (const { login } of confirmed) {
    const isArchived = await inTransaction(deps.pool, async (tx) => {
      await lockAccount(tx, login);
      return await markArchived(tx, login);
    });
    if (isArchived) deps.log.info("account archived, because the platform does not show it", { login });
  }
}

async function ofShownGroups({ mt5 }: Deps, accounts: readonly Missed[]): Promise<readonly Missed[]> {
  const shown = new Set<string>();
  for (const group of new Set(accounts.map((account) => account.group))) {
    if (await isShown(mt5.getGroup(group))) shown.add(group);
  }
  return accounts.filter(({ group }) => shown.has(group));
}

/** An answer that cannot be read confirms nothing, and does not end the run of the check. */
async function isShown(read: Promise<object | undefined>): Promise<boolean> {
  try {
    return (await read) !== undefined;
  } catch (error) {
    if (error instanceof Mt5Error) return false;
    throw error;
  }
}
