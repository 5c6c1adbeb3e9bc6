import assert from "node:assert/strict";
import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { Refusal, recordedAs } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { allocationInProgress, checkLeave } from "../../domain/leave-reasons.ts";
import { safetyStop } from "../../domain/safety-stop.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { closeGate, type Gate } from "../../store/gates.ts";
import { listInvestorStates } from "../../store/investor-states.ts";
import { type NewLeave, type Outcome, recordOutcomes, type Settlement, settledLeave } from "../../store/leaves.ts";
import { readDatabase } from "#kernel/postgres/database-identity.ts";
import { lockMaster, type Master } from "../../store/masters.ts";
import { openLedger, saveLedger, strikeLedger } from "../allocate/ledger.ts";
import { type MasterReading, readMaster } from "../allocate/read-master.ts";
import { accountBusy } from "../../domain/lock-refusals.ts";
import { type GatedLeave, type LeavingBooks, lockLeaving, type PooledLeave } from "./leaving.ts";
import type { FeeState } from "./prepare-fee.ts";

/** Short, because other leaves of the pool wait for their turn. */
const READ_MS = 3_000;
/** Readings that trades of the Master may outdate; then the leaves are refused, and their callers retry. */
const MAX_READS = 3;
/** Commits of one backlog, each of thousands of rows. */
const MAX_COMMITS = 50;

/** The leaves that wait at the gate of a Master, while fee prepares for them. */
export type Waiting = {
  readonly masterLogin: string;
  readonly leaves: readonly PooledLeave[];
  readonly preparing: Promise<FeeState>;
};

/**
 * "settled": the gate is closed for these leaves. "recorded": no leave is settled now, each has a recorded outcome. "closed":
 * other leaves are being decided at the gate. Otherwise nothing is recorded, because fee is not ready.
 */
export type Settled =
  | { readonly kind: "settled"; readonly gate: Gate; readonly leaves: readonly GatedLeave[] }
  | { readonly kind: "recorded" }
  | { readonly kind: "closed" }
  | Exclude<FeeState, { readonly kind: "ready" }>;

/**
 * Reads the Master, which has to be flat and complete, and fixes the log position of that reading for the decisions. One commit
 * allocates, strikes and closes the weeks up to there, records the position of each leave, or its refusal, and closes the
 * gate. After that commit nothing may refuse a settled leave. No money is sent from here.
 */
export async function settleAtGate(deps: Deps, waiting: Waiting, parent: CallContext): Promise<Settled> {
  const context = childContext(parent, { withinMs: READ_MS });
  let reads = 0;
  for (let commits = 0; commits < MAX_COMMITS && reads < MAX_READS; commits += 1) {
    const reading = await readMaster(deps, waiting.masterLogin, context);
    const fee = await waiting.preparing;
    if (fee.kind !== "ready") return fee;
    checkLeave({ master: { isComplete: reading.isComplete, openPositions: reading.marks.length } });
    const end = await inTransaction(deps.pool, (tx) => settleAtLogPosition(tx, deps, waiting, reading));
    if (typeof end === "object") return end;
    if (end === "moved") reads += 1;
  }
  throw allocationInProgress(
    "The Master traded while its latest deals were being allocated to its Investors. Nothing was executed. Send the request again in a second.",
  );
}

/** "more": the backlog of deals continues. "moved": the Master has traded since the reading. */
async function settleAtLogPosition(
  tx: Transaction,
  deps: Deps,
  { masterLogin, leaves }: Waiting,
  reading: MasterReading,
): Promise<Settled | "more" | "moved"> {
  const { requestedAt: at, logNumber: through } = reading;
  const master = await lockMaster(tx, masterLogin);
  assert(master !== undefined, "a holding belongs to a Master");
  if (!master.hasOpenGate) return { kind: "closed" };
  const { ledger, accounts, end } = await openLedger(tx, deps, master, {
    through,
    // The complete log of a flat Master is a stronger proof than the wait after the cut-off, so all ended weeks close.
    reading: { at, marks: [], closeThrough: lastCutOff(deps.week, at) },
    logins: leaves.map(({ leave }) => leave.investorLogin),
    isForStrike: true,
  });
  const isAtLogPosition = end === "done" && master.filedNumber === through;
  const struck =
    isAtLogPosition && master.stoppedReason === null ? await strikeLedger(tx, deps, ledger, []) : undefined;
  await saveLedger(tx, deps, struck ?? ledger);
  if (end === "full") return "more";
  const isStopped = master.stoppedReason !== null || end === "stopped" || (isAtLogPosition && struck === undefined);
  if (!isStopped && struck === undefined) return "moved";
  const database = await readDatabase(tx);
  const states = await listInvestorStates(
    tx,
    leaves.map(({ leave }) => leave.investorLogin),
  );
  const books = await lockLeaving(tx, accounts, leaves, ({ leave, holding }) => ({ ...leave, ...holding }));
  const outcomes = books.map(({ leave: waiting, ...own }) =>
    struck === undefined
      ? refused(waiting, safetyStop(masterLogin, "stopped"))
      : outcomeOf(waiting, own, {
          deps,
          reading,
          database,
          master: struck.master,
          isHeld: states.get(waiting.leave.investorLogin)?.holding?.isHeld === true,
        }),
  );
  return await record(tx, deps, masterLogin, outcomes);
}

type Position = {
  readonly deps: Deps;
  readonly reading: MasterReading;
  readonly database: string;
  readonly master: Master;
  /** What is inbound waits on the account for the end of a deficit, or for an archived Master: an exit takes it back. */
  readonly isHeld: boolean;
};

/** The facts of a leave at the log position of the reading, or its refusal. */
function outcomeOf(
  waiting: PooledLeave,
  books: LeavingBooks,
  { deps, reading, database, master, isHeld }: Position,
): Outcome {
  const { leave } = waiting;
  try {
    checkDatabase(waiting, database);
    checkBooks(leave, books, isHeld);
  } catch (error) {
    if (error instanceof Refusal) return refused(waiting, error);
    throw error;
  }
  const { unposted, quarantined } = books.account.buckets;
  const settlement: Settlement = {
    holding: waiting.holding,
    settledNumber: reading.logNumber,
    allocationNumber: master.lastAllocation,
    settledAt: reading.requestedAt,
    periodStart: lastCutOff(deps.week, reading.requestedAt),
    unposted,
    quarantined,
  };
  return { leave, settlement };
}

/** The account lock, and the record of the caller, may be among the commits that another database has lost: no caller would return the reserve. */
function checkDatabase(waiting: PooledLeave, database: string): void {
  if (waiting.database === database) return;
  throw accountBusy(
    "The database was restarted or restored while the request was decided. Nothing was executed. Send the request again in a second.",
  );
}

function checkBooks(
  { kind, heldLogNumber: heldNumber }: NewLeave,
  { account, holding }: LeavingBooks,
  isHeld: boolean,
): void {
  const { inbound, waiting, pooled } = holding.buckets;
  const isMoving = (inbound !== 0n && !(isHeld && kind === "EXIT")) || waiting !== 0n || !holding.isPooled;
  checkLeave({ account: { filedNumber: account.filedNumber, heldNumber }, share: { isMoving, pooled } });
}

function refused({ leave }: PooledLeave, refusal: Refusal): Outcome {
  return { leave, refusal: recordedAs(refusal) };
}

async function record(
  tx: Transaction,
  { now }: Deps,
  masterLogin: string,
  outcomes: readonly Outcome[],
): Promise<Settled> {
  const recorded = await recordOutcomes(tx, outcomes, now());
  const leaves = outcomes.flatMap(({ leave, settlement }) => {
    const holding = settlement?.holding ?? undefined;
    // Otherwise it is refused, or another replica has recorded an outcome of this key.
    if (settlement === undefined || holding === undefined || !recorded.has(leave.key)) return [];
    return [{ ...settledLeave(leave, settlement), ...holding }];
  });
  if (leaves.length === 0) return { kind: "recorded" };
  return { kind: "settled", gate: await closeGate(tx, masterLogin), leaves };
}
