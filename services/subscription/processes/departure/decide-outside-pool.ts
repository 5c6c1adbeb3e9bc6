import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { isSameDatabase, readDatabase } from "#kernel/postgres/database-identity.ts";
import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import type { Deps } from "../../deps.ts";
import type { AccountBook, HoldingBook } from "../../domain/books.ts";
import type { DepartureDecision } from "../../domain/decide-departure.ts";
import { decideDebts } from "../../domain/fees/due.ts";
import { departureReasons } from "../../domain/departure-reasons.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { lockAccounts, saveAccounts } from "../../store/books.ts";
import { hasUncounted, insertDecisions } from "../../store/fee-decisions.ts";
import { takeBackFlows } from "../../store/flows.ts";
import { changeHoldings, lockHoldings } from "../../store/holdings.ts";
import { findInvestorState } from "../../store/investor-states.ts";
import { markDecided } from "../../store/departures.ts";
import { lockMaster } from "../../store/masters.ts";
import { insertReserves } from "../../store/reserves.ts";
import { askTerms } from "../../fees/ask-terms.ts";
import { decideAmounts, dueOfDeparture, inflowsOnly } from "../../fees/due-of-departure.ts";
import {
  begunElsewhere,
  type DecisionEnd,
  feesOfDeparture,
  feesWait,
  type HeldDeparture,
  isPosted,
  type LeftHolding,
} from "./departing.ts";
import { changeAccount, move, sumOfReserves } from "../../domain/buckets.ts";

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
    if (await hasUncounted(tx, investorLogin, terms.askedAt)) return feesWait();
    const due = dueOfDeparture(departure, decideDebts({ ...facts, at: now }), facts);
    const waiting = waitsIn && (await lockWaiting(tx, investorLogin, account, waitsIn));
    const { unposted, quarantined } = account.buckets;
    const waits = waiting?.amount ?? 0n;
    const [decision] = await decideAmounts(tx, [
      waiting === undefined
        ? { departure, due, held: departure.heldBalance, unposted, quarantined, pooled: 0n }
        : { departure, due, ...inflowsOnly(waits) },
    ]);
    assert(decision !== undefined);
    const outside = { settledNumber: null, allocationNumber: null, leftStatus: null };
    const decided = { ...departure, ...decision.numbers, ...outside, state: "DECIDED" as const };
    if (!(await markDecided(tx, [decided], now)).has(operationId)) return { kind: "moved" };
    if (waiting !== undefined) await takeWaiting(tx, deps, waiting, decision);
    const starts = [lastCutOff(deps.week, now)];
    const fees = feesOfDeparture(departure, due, { masterLogin: undefined, starts, at: now });
    const [inserted] = await insertDecisions(tx, fees === undefined ? [] : [fees]);
    return { kind: "decided", departure: decided, fees: inserted, isPosted: isPosted(account) };
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

type Waiting = { readonly amount: bigint; readonly account: AccountBook; readonly holding: HoldingBook };

/** What waits on the account; 0 when the deficit has ended since. */
async function lockWaiting(
  tx: Transaction,
  investorLogin: string,
  account: AccountBook,
  { subscriptionId }: LeftHolding,
): Promise<Waiting> {
  const [holding] = await lockHoldings(tx, [subscriptionId]);
  assert(holding !== undefined, "an Investor in a pool has a holding");
  const { holding: present } = await findInvestorState(tx, investorLogin);
  const isHeld = present?.subscriptionId === subscriptionId && present.isHeld;
  return { amount: isHeld ? holding.buckets.inbound : 0n, account, holding };
}

/** The rest of the inflows stays as it is. */
async function takeWaiting(
  tx: Transaction,
  { now, wakeSignals }: Deps,
  { account, holding }: Waiting,
  decision: DepartureDecision,
): Promise<void> {
  const { subscriptionId } = holding;
  const amount = sumOfReserves(decision);
  if (amount === 0n) return;
  assert.equal(await takeBackFlows(tx, subscriptionId, amount), amount, "what waits is in flows without a mirror");
  const change = move("inbound", "outside", amount);
  await saveAccounts(tx, [{ ...account, buckets: changeAccount(account.buckets, change) }]);
  await changeHoldings(tx, [{ subscriptionId, ...change }]);
  const reserves = decision.reserves.map((reserve) => ({ ...reserve, subscriptionId, isOutside: true }));
  await insertReserves(tx, reserves, now());
  afterCommit(tx, wakeSignals.mirrors.notify);
}
