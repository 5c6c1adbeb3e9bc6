import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { decideLeave } from "../../domain/decide-leave.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { refuse } from "../../refusals.ts";
import { lockAccounts } from "../../store/books.ts";
import { type Leave, markDecided, markRefused, markSettled } from "../../store/leaves.ts";
import { recordedAs } from "../../store/recorded-refusal.ts";
import { listOpenReserves } from "../../store/reserves.ts";
import { accountBusy } from "../account-lock.ts";
import { crystallise, stillDue } from "./crystallise.ts";

/**
 * Without a pool there is no Master to look at: the account lock keeps the money where it is. The facts are fixed before fee is
 * asked, as in a pool, and after that nothing may refuse.
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
      const place = {
        settledNumber: undefined,
        allocationNumber: 0n,
        settledAt: at,
        periodStart: lastCutOff(week, at),
      };
      await markSettled(tx, leave, { ...place, unposted, quarantined });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      await markRefused(tx, leave, recordedAs(error), at);
    }
  });
}

/** Only debts are due. Nothing is set apart: what is outside of a pool stands on the account alone. */
export async function decideOutsidePool(deps: Deps, leave: Leave, context: CallContext): Promise<void> {
  const { kind, requested, heldBalance: held, unposted, quarantined, payoutKey } = leave;
  assert(unposted !== null && quarantined !== null, "what is settled has its facts");
  const due = await crystallise(deps, leave, context);
  await inTransaction(deps.pool, async (tx) => {
    await lockAccounts(tx, [leave.investorLogin]);
    const open = await listOpenReserves(tx, leave.investorLogin);
    const reserved = open.reduce((total, { amount }) => total + amount, 0n);
    const owed = await stillDue(tx, due, open);
    const facts = { kind, requested, held, unposted, quarantined, reserved, pooled: 0n, due: owed };
    await markDecided(tx, leave, decideLeave(facts, payoutKey).numbers, deps.now());
  });
}
