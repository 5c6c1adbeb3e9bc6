import assert from "node:assert/strict";
import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { notReadYet, checkLeaving, checkMaster } from "../../domain/decide-leave.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { lockAccounts } from "../../store/books.ts";
import { type Gate, lockGate, openGate } from "../../store/gates.ts";
import { findLeave, markRefused, markSettled } from "../../store/leaves.ts";
import { lockMaster, type Master } from "../../store/masters.ts";
import { recordedAs } from "../../store/recorded-refusal.ts";
import { lockHoldings } from "../../store/holdings.ts";
import { openLedger, saveLedger, strikeLedger } from "../allocate/ledger.ts";
import { type MasterReading, readMaster } from "../allocate/read-master.ts";
import { accountBusy } from "../account-lock.ts";
import { safetyStop } from "../../domain/safety-stop.ts";
import { decideSettled } from "./decide-settled.ts";
import type { GatedLeave } from "./leaving.ts";
import { finalRefusal, refuseUnderGate } from "./refuse-under-gate.ts";

/** Others wait at the gate meanwhile; the settling job takes it for abandoned a little later. */
const READ_MS = 3_000;
const MAX_READS = 3;
/** Commits of one backlog, each of thousands of rows. */
const MAX_COMMITS = 50;

/**
 * Reads the Master, which has to be flat and complete, and fixes that place S of its log as the place of the decision:
 * everything up to there is split, struck and closed in the commit that says so, or the try is refused in it. After S
 * nothing may refuse any more. Nobody sends to the platform here.
 */
export async function decideUnderGate(deps: Deps, leave: GatedLeave, gate: Gate, context: CallContext): Promise<void> {
  try {
    await settle(deps, leave, gate, childContext(withReplyReserve(context), { withinMs: READ_MS }));
  } catch (error) {
    if (!(error instanceof Refusal)) deps.log.error("a Master could not be read", { login: leave.masterLogin, error });
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
  throw notReadYet("The Master's latest deals are still being allocated. Retry shortly.");
}

type Asked = { readonly leave: GatedLeave; readonly gate: Gate; readonly reading: MasterReading };

/** "over": on record, whatever it is. "more": there is a backlog. "moved": the Master went on meanwhile. */
async function settleAtLogPosition(
  tx: Transaction,
  deps: Deps,
  { leave, gate, reading }: Asked,
): Promise<"over" | "more" | "moved"> {
  const { askedAt: at, logNumber: through } = reading;
  // Taken over: somebody else decides, and its decision is on record.
  if (!(await lockGate(tx, gate))) return "over";
  const master = await lockMaster(tx, leave.masterLogin);
  assert(master !== undefined, "a gate is one of a Master");
  const { ledger, end } = await openLedger(tx, deps, master, {
    through,
    // A complete log of a flat Master proves more than waiting after the cut-off would.
    reading: { at, marks: [], closeThrough: lastCutOff(deps.week, at) },
    logins: [leave.investorLogin],
  });
  const isAtLogPosition = end === "done" && master.filedNumber === through;
  const struck = isAtLogPosition && master.stoppedReason === null ? await strikeLedger(tx, deps, ledger, []) : undefined;
  await saveLedger(tx, struck ?? ledger);
  if (end === "full") return "more";
  const isStopped = master.stoppedReason !== null || end === "stopped" || (isAtLogPosition && struck === undefined);
  if (!isStopped && struck === undefined) return "moved";
  try {
    if (struck === undefined) throw safetyStop(leave.masterLogin, "stopped");
    assert(await settleHere(tx, deps, { leave, reading }, struck.master), "a gated try is settled once");
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    assert(await markRefused(tx, leave, recordedAs(error), deps.now()), "a gated try is refused once");
    await openGate(tx, gate);
  }
  return "over";
}

/** Throws a refusal before anything of the try was written. False when the row has moved on. */
async function settleHere(
  tx: Transaction,
  { week }: Deps,
  { leave, reading }: Omit<Asked, "gate">,
  { lastAllocation }: Master,
): Promise<boolean> {
  const { kind, investorLogin, subscriptionId, heldLogNumber } = leave;
  const [account] = await lockAccounts(tx, [investorLogin]);
  const [holding] = await lockHoldings(tx, [subscriptionId]);
  assert(account !== undefined && holding !== undefined, "who leaves has a holding");
  const { inbound, waiting, pooled } = holding.buckets;
  if (account.filedNumber !== heldLogNumber || inbound !== 0n || waiting !== 0n || !holding.isPooled) {
    throw accountBusy("The account changed while it was being read. Retry shortly.");
  }
  checkLeaving({ kind, pooled });
  const { unposted, quarantined } = account.buckets;
  return await markSettled(tx, leave, {
    settledNumber: reading.logNumber,
    allocationNumber: lastAllocation,
    settledAt: reading.askedAt,
    periodStart: lastCutOff(week, reading.askedAt),
    unposted,
    quarantined,
  });
}
