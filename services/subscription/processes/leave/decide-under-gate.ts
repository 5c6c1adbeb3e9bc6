import assert from "node:assert/strict";
import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { Refusal, recordedAs } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { allocationInProgress, checkLeaving, checkMaster } from "../../domain/decide-leave.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { lockAccounts } from "../../store/books.ts";
import { type Gate, lockGate, openGate } from "../../store/gates.ts";
import { findLeave, markRefused, markSettled } from "../../store/leaves.ts";
import { lockMaster, type Master } from "../../store/masters.ts";
import { lockHoldings } from "../../store/holdings.ts";
import { openLedger, saveLedger, strikeLedger } from "../allocate/ledger.ts";
import { type MasterReading, readMaster } from "../allocate/read-master.ts";
import { accountBusy } from "../account-lock.ts";
import { safetyStop } from "../../domain/safety-stop.ts";
import { decideSettled } from "./decide-settled.ts";
import { finalRefusal, type GatedLeave, refuseUnderGate, wakeAfterGate } from "./leaving.ts";

/** Short, because other leaves of the pool wait until the gate opens, and later the recovery job takes the gate over. */
const READ_MS = 3_000;
/** Readings that trades of the Master may outdate; then the leave is refused, and its caller retries. */
const MAX_READS = 3;
/** Commits of one backlog, each of thousands of rows. */
const MAX_COMMITS = 50;

/**
 * Reads the Master, which has to be flat and complete, and fixes the log position of that reading for the decision. One
 * commit allocates, strikes and closes the weeks up to there and records the position, or refuses the try. After that
 * commit nothing may refuse. No money is sent from here.
 */
export async function decideUnderGate(deps: Deps, leave: GatedLeave, gate: Gate, context: CallContext): Promise<void> {
  try {
    await settle(deps, leave, gate, childContext(withReplyReserve(context), { withinMs: READ_MS }));
  } catch (error) {
    if (!(error instanceof Refusal)) {
      deps.log.warn("Master not read, leave refused", { login: leave.masterLogin, error });
    }
    await refuseUnderGate(deps, leave, gate, finalRefusal(error));
  }
  const settled = await findLeave(deps.pool, leave);
  const { subscriptionId, masterLogin } = leave;
  if (settled?.state === "SETTLED") {
    await decideSettled(deps, { ...settled, subscriptionId, masterLogin }, gate, context);
  }
}

async function settle(deps: Deps, leave: GatedLeave, gate: Gate, context: CallContext): Promise<void> {
  let reads = 0;
  for (let commits = 0; commits < MAX_COMMITS && reads < MAX_READS; commits += 1) {
    const reading = await readMaster(deps, leave.masterLogin, context);
    checkMaster({ isComplete: reading.isComplete, openPositions: reading.marks.length });
    const end = await inTransaction(deps.pool, (tx) => settleAtLogPosition(tx, deps, { leave, gate, reading }));
    if (end === "over") return;
    if (end === "moved") reads += 1;
  }
  throw allocationInProgress("The Master's latest deals are still being allocated. Retry shortly.");
}

type GatedReading = { readonly leave: GatedLeave; readonly gate: Gate; readonly reading: MasterReading };

/** "over": settled or refused, and recorded. "more": the backlog continues. "moved": the Master has traded since the reading. */
async function settleAtLogPosition(
  tx: Transaction,
  deps: Deps,
  { leave, gate, reading }: GatedReading,
): Promise<"over" | "more" | "moved"> {
  const { requestedAt: at, logNumber: through } = reading;
  // The recovery job has taken the gate over and decides.
  if (!(await lockGate(tx, gate))) return "over";
  const master = await lockMaster(tx, leave.masterLogin);
  assert(master !== undefined, "a gate belongs to a Master");
  const { ledger, end } = await openLedger(tx, deps, master, {
    through,
    // The complete log of a flat Master is a stronger proof than the wait after the cut-off, so all ended weeks close.
    reading: { at, marks: [], closeThrough: lastCutOff(deps.week, at) },
    logins: [leave.investorLogin],
  });
  const isAtLogPosition = end === "done" && master.filedNumber === through;
  const struck =
    isAtLogPosition && master.stoppedReason === null ? await strikeLedger(tx, deps, ledger, []) : undefined;
  await saveLedger(tx, struck ?? ledger);
  if (end === "full") return "more";
  const isStopped = master.stoppedReason !== null || end === "stopped" || (isAtLogPosition && struck === undefined);
  if (!isStopped && struck === undefined) return "moved";
  try {
    if (struck === undefined) throw safetyStop(leave.masterLogin, "stopped");
    assert(await recordSettlement(tx, deps, { leave, reading }, struck.master), "a gated try is settled once");
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    assert(await markRefused(tx, leave, recordedAs(error), deps.now()), "a gated try is refused once");
    await openGate(tx, gate);
    wakeAfterGate(tx, deps);
  }
  return "over";
}

/** Refuses before anything of the try is written. False when the try has left its state. */
async function recordSettlement(
  tx: Transaction,
  { week }: Deps,
  { leave, reading }: Omit<GatedReading, "gate">,
  { lastAllocation }: Master,
): Promise<boolean> {
  const { kind, investorLogin, subscriptionId, heldLogNumber } = leave;
  const [account] = await lockAccounts(tx, [investorLogin]);
  const [holding] = await lockHoldings(tx, [subscriptionId]);
  assert(account !== undefined && holding !== undefined, "an Investor that leaves a pool has a holding");
  const { inbound, waiting, pooled } = holding.buckets;
  if (account.filedNumber !== heldLogNumber || inbound !== 0n || waiting !== 0n || !holding.isPooled) {
    throw accountBusy("The account changed while it was being read. Retry shortly.");
  }
  checkLeaving({ kind, pooled });
  const { unposted, quarantined } = account.buckets;
  return await markSettled(tx, leave, {
    settledNumber: reading.logNumber,
    allocationNumber: lastAllocation,
    settledAt: reading.requestedAt,
    periodStart: lastCutOff(week, reading.requestedAt),
    unposted,
    quarantined,
  });
}
