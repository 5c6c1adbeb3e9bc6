import assert from "node:assert/strict";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { decideLeave, type LeaveNumbers } from "../../domain/decide-leave.ts";
import { changeSeat } from "../../domain/places.ts";
import { strike } from "../../domain/strike.ts";
import { lockAccounts } from "../../store/books.ts";
import { type Gate, lockGate, openGate } from "../../store/gates.ts";
import { markDecided, markRefused } from "../../store/leaves.ts";
import { recordedAs } from "../../store/recorded-refusal.ts";
import { insertReserve, sumOpenReserves } from "../../store/reserves.ts";
import { lockSeats, saveSeats } from "../../store/seats.ts";
import { accountBusy } from "../lane.ts";
import { leavePool } from "./leave-pool.ts";
import type { GatedLeave, Leaving, LeavingBooks } from "./leaving.ts";

/**
 * Decides at the place that is on record, from facts that cannot change any more: the lane keeps the Investor still, the
 * gate its pool. One commit: the numbers, what is set apart, and the gate opens. Finishes what a crash left, too.
 */
export async function decideAtPlace(deps: Deps, leave: GatedLeave, gate: Gate): Promise<void> {
  await inTransaction(deps.pool, async (tx) => {
    // Taken over: somebody else decides, and its decision is on record.
    if (!(await lockGate(tx, gate))) return;
    const at = deps.now();
    const books = await lockWhatLeaves(tx, leave);
    try {
      const numbers = await decide(tx, leave, books);
      await setApart(tx, deps, { leave, books, numbers, at });
      assert(await markDecided(tx, leave, numbers, at), "a place is decided once");
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      assert(await markRefused(tx, leave, recordedAs(error), at), "a place is decided once");
    }
    await openGate(tx, gate);
  });
}

/** With everything that waits struck: it belongs to the pool before anything leaves. */
async function lockWhatLeaves(tx: Transaction, { investorLogin, subscriptionId }: GatedLeave): Promise<LeavingBooks> {
  const [account] = await lockAccounts(tx, [investorLogin]);
  const [seat] = await lockSeats(tx, [subscriptionId]);
  assert(account !== undefined && seat !== undefined, "who leaves has a seat");
  const struck = changeSeat(seat.places, strike({ kind: "inflow", amount: seat.places.waiting }));
  return { account, seat: { ...seat, places: struck } };
}

/** Throws a refusal before anything was written. */
async function decide(tx: Transaction, leave: GatedLeave, { account, seat }: LeavingBooks): Promise<LeaveNumbers> {
  if (account.filedNumber !== leave.heldLogNumber || seat.places.inbound !== 0n || !seat.isPooled) {
    throw accountBusy("the account has changed since it was held");
  }
  return decideLeave({
    kind: leave.kind,
    requested: leave.requested,
    held: leave.heldBalance,
    unposted: account.places.unposted,
    reserved: await sumOpenReserves(tx, seat.subscriptionId),
    quarantined: account.places.quarantined,
    pooled: seat.places.pooled,
    pendingFee: 0n,
  });
}

async function setApart(tx: Transaction, deps: Deps, leaving: Leaving): Promise<void> {
  const { leave, books, numbers, at } = leaving;
  if (leave.kind === "EXIT") return await leavePool(tx, deps, leaving);
  const { seat } = books;
  const amount = numbers.effective;
  const places = changeSeat(seat.places, strike({ kind: "outflow", to: "reserved", amount }));
  await saveSeats(tx, [{ ...seat, places }]);
  if (amount > 0n) await insertReserve(tx, { key: leave.payoutKey, subscriptionId: seat.subscriptionId, amount }, at);
}
