import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal, recordedAs } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { checkLeave } from "../../domain/leave-reasons.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { refuse } from "../../refusals.ts";
import { lockAccounts } from "../../store/books.ts";
import { type Leave, markDecided, type NewLeave, type Outcome, recordOutcomes } from "../../store/leaves.ts";
import { crystallise, decideAmounts } from "./crystallise.ts";

/**
 * Fixes the facts of a leave outside a pool, where there is no Master to read: the account lock keeps the balance
 * unchanged. As in a pool, the facts are recorded before the fee is crystallised, and after that nothing may refuse.
 */
export async function settleOutsidePool({ pool, now, week }: Deps, leave: NewLeave): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const [account] = await lockAccounts(tx, [leave.investorLogin]);
    assert(account !== undefined);
    const at = now();
    let outcome: Outcome;
    try {
      if (leave.kind === "EXIT") {
        throw refuse("subscription_not_active", `Investor ${leave.investorLogin} is not in a pool.`);
      }
      checkLeave({
        account: { filedNumber: account.filedNumber, heldNumber: leave.heldLogNumber },
        share: { isMoving: account.pooledIn !== undefined, pooled: 0n },
      });
      const { unposted, quarantined } = account.buckets;
      const position = { holding: null, settledNumber: null, allocationNumber: 0n };
      const instant = { settledAt: at, periodStart: lastCutOff(week, at) };
      outcome = { leave, settlement: { ...position, ...instant, unposted, quarantined } };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      outcome = { leave, refusal: recordedAs(error) };
    }
    await recordOutcomes(tx, [outcome], at);
  });
}

/** Decides a leave outside a pool. Nothing is reserved: the money is on the account only. */
export async function decideOutsidePool(deps: Deps, leave: Leave, context: CallContext): Promise<void> {
  const { due } = await crystallise(deps, leave, context);
  await inTransaction(deps.pool, async (tx) => {
    await lockAccounts(tx, [leave.investorLogin]);
    const decisions = await decideAmounts(tx, [{ leave, due, pooled: 0n }]);
    await markDecided(
      tx,
      decisions.map(({ numbers }) => ({ leave, numbers })),
      deps.now(),
    );
  });
}
