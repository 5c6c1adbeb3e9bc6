import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { showUnshownAccounts } from "../metrics.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { noteReading } from "../protocol/unshown-accounts.ts";
import { lockAccount } from "../store/accounts.ts";
import { countUnshown, findWitness, listToConfirm, markArchived, type Unshown } from "../store/unshown-accounts.ts";

/** Accounts of one run; each that is not shown costs about two requests, once. */
const BATCH = 100;

/**
 * Archives accounts that have not been shown for a while and are not shown now, each in an answer about it alone. An answer counts only while
 * the platform shows the manager their group and another account: a manager that has lost its rights, or a server that starts, shows nothing.
 * True when more are due.
 */
export async function confirmArchived(deps: Deps): Promise<boolean> {
  const { pool, mt5, settings, log } = deps;
  showUnshownAccounts(await countUnshown(pool));
  const due = await listToConfirm(pool, settings.archivedAfterMs, BATCH);
  if (due.length === 0) return false;
  const { users, unreadable } = await mt5.readUsers(due.map(({ login }) => login));
  await noteReading(deps, { shown: [...users.keys()], unshown: [] });
  const unshown = due.filter(({ login }) => !users.has(login) && !unreadable.has(login));
  const confirmed = await ofShownGroups(deps, unshown);
  if (confirmed.length === 0 || !(await isWitnessShown(deps))) return false;
  for (const { login } of confirmed) {
    const isArchived = await inTransaction(pool, async (tx) => {
      await lockAccount(tx, login);
      return await markArchived(tx, login);
    });
    if (isArchived) log.info("account archived, because the platform does not show it", { login });
  }
  return due.length === BATCH && confirmed.length === BATCH;
}

async function ofShownGroups({ mt5 }: Deps, accounts: readonly Unshown[]): Promise<readonly Unshown[]> {
  const shown = new Set<string>();
  for (const group of new Set(accounts.map((account) => account.group))) {
    if ((await mt5.getGroup(group).catch(notShown)) !== undefined) shown.add(group);
  }
  return accounts.filter(({ group }) => shown.has(group));
}

async function isWitnessShown({ pool, mt5 }: Deps): Promise<boolean> {
  const witness = await findWitness(pool);
  return witness !== undefined && (await mt5.getUser(witness)) !== undefined;
}

function notShown(error: unknown): undefined {
  if (error instanceof Mt5Error && (error.problem === "forbidden" || error.problem === "retcode")) return undefined;
  throw error;
}
