import assert from "node:assert/strict";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { decideLeave } from "../../domain/decide-leave.ts";
import { refuse } from "../../refusals.ts";
import { lockAccounts } from "../../store/books.ts";
import { type Leave, markDecided, markRefused } from "../../store/leaves.ts";
import { recordedAs } from "../../store/recorded-refusal.ts";
import { accountBusy } from "../lane.ts";

/** Without a pool there is no Master to look at and nothing to set apart: the lane keeps the money where it is. */
export async function decideOutsidePool({ pool, now }: Deps, leave: Leave): Promise<undefined> {
  await inTransaction(pool, async (tx) => {
    const [account] = await lockAccounts(tx, [leave.investorLogin]);
    assert(account !== undefined);
    const at = now();
    try {
      if (leave.kind === "EXIT") throw refuse("subscription_not_active", "the Investor is in no pool");
      if (account.pooledIn !== undefined || account.filedNumber !== leave.heldLogNumber) {
        throw accountBusy("the account has changed since it was held");
      }
      const numbers = decideLeave({
        kind: leave.kind,
        requested: leave.requested,
        held: leave.heldBalance,
        unposted: account.places.unposted,
        reserved: 0n,
        quarantined: account.places.quarantined,
        pooled: 0n,
        pendingFee: 0n,
      });
      await markDecided(tx, leave, numbers, at);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      await markRefused(tx, leave, recordedAs(error), at);
    }
  });
}
