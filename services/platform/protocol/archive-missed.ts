import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { lockAccount } from "../store/accounts.ts";
import { countMissed, markArchived, type Missed } from "../store/unshown-accounts.ts";

/** Accounts that a run of the check asked for, each alone at last, and those that it was shown. */
export type CheckedAccounts = { readonly missing: readonly string[]; readonly shown: Iterable<string> };

/**
 * Archives accounts that two runs of the check in a row were not shown. It counts only while the platform shows the manager their group and
 * another account: a manager that has lost its rights, or a server that starts, shows nothing. The next run tries again.
 */
export async function archiveMissed(deps: Deps, { missing, shown }: CheckedAccounts): Promise<void> {
  const missed = await countMissed(deps.pool, missing);
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
