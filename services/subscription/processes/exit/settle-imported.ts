import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import {
  type ExitTransfer,
  listExitsToSettle,
  listImportedExits,
  markExitsSettled,
  splitExit,
} from "../../store/exit-transfers.ts";
import { publishExitsCompleted } from "../../messages/capital-events.ts";
import { changeHoldings } from "../../store/holdings.ts";
import { cancelEmptied } from "../../store/subscriptions.ts";

/** Masters of one run. */
const MASTERS_PER_RUN = 16;

/**
 * Settles exits that the platform has executed and whose records were lost: the sum that imported transfers have taken off a Master
 * covers its oldest exits that were not requested. Of one that it covers
 * in part, the rest becomes an exit of its own: the amount that is decided again may be another one.
 */
export async function settleImportedExits(deps: Deps): Promise<void> {
  for (const login of await listImportedExits(deps.pool, MASTERS_PER_RUN)) await settle(deps, login);
}

async function settle({ pool, now }: Deps, masterLogin: string): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const { imported, exits } = await listExitsToSettle(tx, masterLogin);
    const at = now();
    const covered: ExitTransfer[] = [];
    let left = -imported;
    for (const exit of exits) {
      if (left <= 0n) break;
      const moved = exit.amount < left ? exit.amount : left;
      if (moved < exit.amount) await splitExit(tx, exit, moved, at);
      covered.push({ ...exit, amount: moved });
      left -= moved;
    }
    if (covered.length === 0) return;
    const ids = [...new Set(covered.map(({ subscriptionId }) => subscriptionId))];
    await changeHoldings(
      tx,
      covered.map(({ subscriptionId, amount }) => ({ subscriptionId, outbound: -amount })),
    );
    await markExitsSettled(tx, masterLogin, covered, at);
    publishExitsCompleted(tx, await cancelEmptied(tx, ids, at));
  });
}
