import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { applyFlow } from "../../domain/books.ts";
import { publishExitsCompleted } from "../../messages/capital-events.ts";
import {
  type ExitTransfer,
  listExitsToSettle,
  listImportedExits,
  markExitsSettled,
} from "../../store/exit-transfers.ts";
import { lockHoldings, saveHoldings } from "../../store/holdings.ts";
import { cancelEmptied } from "../../store/subscriptions.ts";

/** Masters of one run. */
const MASTERS_PER_RUN = 16;

/**
 * Settles exits that the platform has executed and whose records were lost: the sum that imported transfers have taken off a Master
 * covers its oldest exits that were not requested.
 */
export async function settleImportedExits(deps: Deps): Promise<void> {
  for (const login of await listImportedExits(deps.pool, MASTERS_PER_RUN)) await settle(deps, login);
}

async function settle({ pool, now }: Deps, masterLogin: string): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const { imported, exits } = await listExitsToSettle(tx, masterLogin);
    const covered = coveredBy(-imported, exits);
    if (covered.length === 0) return;
    const at = now();
    const locked = await lockHoldings(tx, [...new Set(covered.map(({ subscriptionId }) => subscriptionId))]);
    const holdings = new Map(locked.map((holding) => [holding.subscriptionId, holding]));
    for (const { subscriptionId, amount } of covered) applyFlow(holdings, { subscriptionId, amount: -amount });
    await saveHoldings(tx, [...holdings.values()]);
    await markExitsSettled(tx, masterLogin, covered, at);
    publishExitsCompleted(tx, await cancelEmptied(tx, [...holdings.keys()], at));
  });
}

/** The exits, oldest first, that an amount covers whole. */
function coveredBy(amount: bigint, exits: readonly ExitTransfer[]): ExitTransfer[] {
  let left = amount;
  return exits.filter((exit) => {
    if (exit.amount > left) return false;
    left -= exit.amount;
    return true;
  });
}
