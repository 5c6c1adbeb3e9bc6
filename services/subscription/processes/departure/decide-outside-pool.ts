import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { isSameDatabase, readDatabase } from "#kernel/postgres/database-identity.ts";
import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import type { Deps } from "../../deps.ts";
import type { AccountBook } from "../../domain/books.ts";
import { changeAccount, move, sumOfReserves } from "../../domain/buckets.ts";
import { decideDebts } from "../../domain/fees/due.ts";
import { departureReasons } from "../../domain/departure-reasons.ts";
import { lockAccounts, saveAccounts } from "../../store/books.ts";
import { listUncounted } from "../../store/fee-decisions.ts";
import { takeBackFlows } from "../../store/flows.ts";
import { changeHoldings, lockHoldings } from "../../store/holdings.ts";
import { type BookedHolding, findInvestorState } from "../../store/investor-states.ts";
import { lockMaster } from "../../store/masters.ts";
import { askTerms } from "../../fees/ask-terms.ts";
import { dueOfDeparture, inflowsOnly } from "../../fees/due-of-departure.ts";
import { begunElsewhere, carryOut, type DecisionEnd, feesWait, type HeldDeparture, type Leaving } from "./carry-out.ts";

type LeftHolding = Pick<BookedHolding, "subscriptionId" | "masterLogin">;

/**
 * Decides a withdrawal outside a pool, in one transaction: the account lock keeps the balance unchanged. Only debts are due. `waitsIn`: the Investor
 * is in a pool in deficit, or of an archived Master, and takes what waits on the account for its end, and nothing else: what is in the pool may
 * be below zero.
 */
export async function decideOutsidePool(
  deps: Deps,
  departure: HeldDeparture,
  { waitsIn }: { readonly waitsIn: LeftHolding | undefined },
  context: CallContext,
): Promise<DecisionEnd> {
  const { investorLogin, operationId } = departure;
  const terms = await askTerms(deps, { masterLogin: "", investorLogins: [investorLogin] }, context);
  const facts = terms.of(investorLogin);
  return await inTransaction(deps.pool, async (tx): Promise<DecisionEnd> => {
    // No mirror takes the flows meanwhile.
    if (waitsIn !== undefined) await lockMaster(tx, waitsIn.masterLogin);
    const [account] = await lockAccounts(tx, [investorLogin]);
    assert(account !== undefined, "an account with a held log is filed");
    const now = deps.now();
    const refusal = reasonOf(departure, account, waitsIn);
    if (refusal !== undefined) return { kind: "refused", refusal };
    const database = await readDatabase(tx);
    if (departure.database !== database) return { kind: "refused", refusal: begunElsewhere() };
    if (!isSameDatabase(database, terms.database)) return feesWait();
    const uncounted = await listUncounted(tx, "", [{ investorLogin, subscriptionId: undefined }], terms.askedAt);
    if (uncounted.size > 0) return feesWait();
    const due = dueOfDeparture(departure, decideDebts({ ...facts, at: now }), facts);
    const { unposted, quarantined } = account.buckets;
    const waiting = waitsIn && (await lockWaiting(tx, investorLogin, waitsIn));
    const amounts = waiting?.amounts ?? { held: departure.heldBalance, unposted, quarantined, pooled: 0n };
    const leaver = { departure, account, holding: waiting?.holding, due, amounts, since: undefined };
    const ends = await carryOut(tx, deps, [leaver], {
      at: now,
      allocationNumber: null,
      take: async (leaving) => {
        for (const each of leaving) await takeWaiting(tx, deps, each);
      },
    });
    return ends.get(operationId) ?? { kind: "moved" };
  });
}

function reasonOf(
  { heldLogNumber: heldNumber }: HeldDeparture,
  { filedNumber, pooledIn }: AccountBook,
  waitsIn: LeftHolding | undefined,
): Refusal | undefined {
  const isMoving = (waitsIn !== undefined) !== (pooledIn !== undefined);
  return departureReasons({ account: { filedNumber, heldNumber }, share: { isMoving, pooled: 0n } })[0];
}

/** What waits on the account; 0 when the deficit has ended since. */
async function lockWaiting(tx: Transaction, investorLogin: string, { subscriptionId }: LeftHolding) {
  const [holding] = await lockHoldings(tx, [subscriptionId]);
  assert(holding !== undefined, "an Investor in a pool has a holding");
  const { holding: present } = await findInvestorState(tx, investorLogin);
  const isHeld = present?.subscriptionId === subscriptionId && present.isHeld;
  return { holding, amounts: inflowsOnly(isHeld ? holding.buckets.inbound : 0n) };
}

/** The rest of the inflows stays as it is. */
async function takeWaiting(
  tx: Transaction,
  { wakeSignals }: Deps,
  { account, holding, decision }: Leaving,
): Promise<void> {
  const amount = sumOfReserves(decision);
  if (holding === undefined || amount === 0n) return;
  const { subscriptionId } = holding;
  assert.equal(await takeBackFlows(tx, subscriptionId, amount), amount, "what waits is in flows without a mirror");
  const change = move("inbound", "outside", amount);
  await saveAccounts(tx, [{ ...account, buckets: changeAccount(account.buckets, change) }]);
  await changeHoldings(tx, [{ subscriptionId, ...change }]);
  afterCommit(tx, wakeSignals.mirrors.notify);
}
