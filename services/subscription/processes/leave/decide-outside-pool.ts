import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal, recordedAs } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { refuse } from "../../refusals.ts";
import { lockAccounts } from "../../store/books.ts";
import { type Leave, markDecided, markRefused, markSettled } from "../../store/leaves.ts";
import { accountBusy } from "../account-lock.ts";
import { crystallise, decideAmounts } from "./crystallise.ts";

/**
 * Fixes the facts of a leave outside a pool, where there is no Master to read: the account lock keeps the balance
 * unchanged. As in a pool, the facts are recorded before the fee is crystallised, and after that nothing may refuse.
 */
export async function settleOutsidePool({ pool, now, week }: Deps, leave: Leave): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const [account] = await lockAccounts(tx, [leave.investorLogin]);
    assert(account !== undefined);
    const at = now();
    try {
      if (leave.kind === "EXIT") {
        throw refuse("subscription_not_active", `Investor ${leave.investorLogin} is not in a pool.`);
      }
      if (account.pooledIn !== undefined || account.filedNumber !== leave.heldLogNumber) {
        throw accountBusy("The account changed while it was being read. Retry shortly.");
      }
      const { unposted, quarantined } = account.buckets;
      const settlement = {
        settledNumber: undefined,
        allocationNumber: 0n,
        settledAt: at,
        periodStart: lastCutOff(week, at),
      };
      await markSettled(tx, leave, { ...settlement, unposted, quarantined });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      await markRefused(tx, leave, recordedAs(error), at);
    }
  });
}

/** Decides a leave outside a pool. Nothing is reserved: the money is on the account only. */
export async function decideOutsidePool(deps: Deps, leave: Leave, context: CallContext): Promise<void> {
  const due = await crystallise(deps, leave, context);
  await inTransaction(deps.pool, async (tx) => {
    await lockAccounts(tx, [leave.investorLogin]);
    const { numbers } = await decideAmounts(tx, leave, 0n, due);
    await markDecided(tx, leave, numbers, deps.now());
  });
}
