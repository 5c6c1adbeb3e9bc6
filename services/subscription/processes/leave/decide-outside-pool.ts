import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { Refusal, recordedAs } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { changeAccount, changeHolding, move } from "../../domain/buckets.ts";
import { decideLeave, openClaims } from "../../domain/decide-leave.ts";
import { sumOfReserves } from "../../domain/leave-buckets.ts";
import { checkLeave } from "../../domain/leave-reasons.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { refuse } from "../../refusals.ts";
import { lockAccounts, saveAccounts } from "../../store/books.ts";
import { listTakenFees } from "../../store/fees.ts";
import { takeBackFlows } from "../../store/flows.ts";
import { lockHoldings, saveHoldings } from "../../store/holdings.ts";
import { findInvestorState } from "../../store/investor-states.ts";
import { type Leave, markDecided, type NewLeave, type Outcome, recordOutcomes } from "../../store/leaves.ts";
import { lockMaster } from "../../store/masters.ts";
import { insertReserves } from "../../store/reserves.ts";
import { crystallise, type Crystallised, decideAmounts } from "./crystallise.ts";

/**
 * Fixes the facts of a leave outside a pool, where there is no Master to read: the account lock keeps the balance
 * unchanged. As in a pool, the facts are recorded before the fee is crystallised, and after that nothing may refuse. `isWaiting`: the Investor
 * is in a pool in deficit, or of an archived Master, and takes what waits on the account for its end.
 */
export async function settleOutsidePool(
  { pool, now, week }: Deps,
  leave: NewLeave,
  { isWaiting }: { readonly isWaiting: boolean },
): Promise<void> {
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
        share: { isMoving: isWaiting !== (account.pooledIn !== undefined), pooled: 0n },
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
  const crystallised = await crystallise(deps, leave, context);
  await inTransaction(deps.pool, async (tx) => {
    const { holding } = await findInvestorState(tx, leave.investorLogin);
    const numbers =
      holding === undefined
        ? await decideOutside(tx, crystallised)
        : await decideWaiting(tx, deps, { ...crystallised, ...holding });
    await markDecided(tx, [{ leave, numbers }], deps.now());
  });
}

async function decideOutside(tx: Transaction, { leave, due }: Crystallised) {
  await lockAccounts(tx, [leave.investorLogin]);
  const [decision] = await decideAmounts(tx, [{ leave, due, pooled: 0n }]);
  assert(decision !== undefined);
  return decision.numbers;
}

type Waiting = Crystallised & { readonly subscriptionId: bigint; readonly masterLogin: string };

/**
 * Pays out of the inflows that wait for the end of a deficit, or for an archived Master, and out of nothing else: what is in the pool may be below zero. When
 * that has ended since, nothing waits. The rest of them stays as it is.
 */
async function decideWaiting(tx: Transaction, { now, wakeSignals }: Deps, waiting: Waiting) {
  const { leave, due, subscriptionId, masterLogin } = waiting;
  const { investorLogin, kind, requested, payoutKey } = leave;
  // No mirror takes the flows meanwhile.
  await lockMaster(tx, masterLogin);
  const [account] = await lockAccounts(tx, [investorLogin]);
  const [holding] = await lockHoldings(tx, [subscriptionId]);
  const { holding: present } = await findInvestorState(tx, investorLogin);
  assert(account !== undefined && holding !== undefined, "an Investor in a pool has a holding");
  const waits = present?.subscriptionId === subscriptionId && present.isHeld ? holding.buckets.inbound : 0n;
  const taken = await listTakenFees(
    tx,
    due.map(({ key }) => key),
  );
  const claims = openClaims({ due, taken, reserves: [] });
  const facts = { kind, requested, held: waits, unposted: 0n, quarantined: 0n, pooled: waits, ...claims };
  const decision = decideLeave(facts, payoutKey);
  const amount = sumOfReserves(decision);
  if (amount > 0n) {
    assert.equal(await takeBackFlows(tx, subscriptionId, amount), amount, "what waits is in flows without a mirror");
    const change = move("inbound", "outside", amount);
    await saveAccounts(tx, [{ ...account, buckets: changeAccount(account.buckets, change) }]);
    await saveHoldings(tx, [{ ...holding, buckets: changeHolding(holding.buckets, change) }]);
    const reserves = decision.reserves.map((reserve) => ({ ...reserve, subscriptionId, isOutside: true }));
    await insertReserves(tx, reserves, now());
    afterCommit(tx, wakeSignals.mirrors.notify);
  }
  return decision.numbers;
}
