import { closeCase, listUndecided, openCase } from "#kernel/review/cases.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { reviewActions } from "../domain/review-actions.ts";
import { readClock } from "../store/clock.ts";
import { listManagedOf, listUnreviewed, UNKNOWN_ACCOUNT, unknownSubject } from "../store/unknown-accounts.ts";

/** Reviews that one run opens, and that it looks at again. */
const BATCH = 100;

/** Opens a review for each break of the check `unknown_accounts`, and closes those of accounts that were registered meanwhile. */
export async function reviewUnknownAccounts({ pool, log }: Pick<Deps, "pool" | "log">): Promise<boolean> {
  const unreviewed = await listUnreviewed(pool, BATCH);
  for (const login of unreviewed) {
    await inTransaction(pool, async (tx) => {
      const actions = reviewActions(UNKNOWN_ACCOUNT, undefined);
      const newCase = { subject: unknownSubject(login), reason: UNKNOWN_ACCOUNT, login, evidence: {}, actions };
      await openCase(tx, newCase, new Date(await readClock(tx)));
    });
    log.error("account that this service has created is unknown, manual review opened", { login });
  }
  const open = await listUndecided(pool, unknownSubject(""), BATCH);
  const managed = new Set(
    await listManagedOf(
      pool,
      open.map(({ login }) => login),
    ),
  );
  for (const each of open.filter(({ login }) => managed.has(login))) {
    await inTransaction(pool, async (tx) => closeCase(tx, each, new Date(await readClock(tx))));
  }
  return unreviewed.length === BATCH;
}
