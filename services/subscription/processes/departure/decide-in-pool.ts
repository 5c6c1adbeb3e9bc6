import assert from "node:assert/strict";
import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { isSameDatabase, readDatabase } from "#kernel/postgres/database-identity.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { type Refusal, recordedAs } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { decideDue } from "../../domain/fees/due.ts";
import { allocationInProgress, departureReasons } from "../../domain/departure-reasons.ts";
import { accountBusy } from "../../domain/lock-refusals.ts";
import { safetyStop } from "../../domain/safety-stop.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { lockAccounts } from "../../store/books.ts";
import { type FeeDecision, insertDecisions, listUncounted } from "../../store/fee-decisions.ts";
import { type InvestorState, listInvestorStates } from "../../store/investor-states.ts";
import { type DecidedLeave, leaveOf, recordDecided, recordRefusals } from "../../store/leaves.ts";
import { lockMaster, type Master } from "../../store/masters.ts";
import { lockPairs, type Pair, savePairs } from "../../store/pairs.ts";
import { insertReserves } from "../../store/reserves.ts";
import { lockFlows } from "../../store/unit-pools.ts";
import { openLedger, saveLedger, strikeLedger } from "../allocate/ledger.ts";
import { type MasterReading, readMaster } from "../allocate/read-master.ts";
import { askTerms, type AskedTerms } from "../../fees/ask-terms.ts";
import { decidedPair } from "../../fees/decide-due.ts";
import { decideAmounts, type DueOfDeparture, dueOfDeparture } from "../../fees/due-of-departure.ts";
import { foldPairs, isEarnedBefore } from "../../fees/fold-pairs.ts";
import { takeOutOfPool } from "./take-out.ts";
import {
  type DecidedWithFees,
  feesOfDeparture,
  type Leaving,
  type DepartingBooks,
  lockDeparting,
  type PooledDeparture,
} from "./departing.ts";

/** Short, because other leaves of the pool wait for their turn. */
const READ_MS = 3_000;
/** Readings that trades of the Master may outdate; then the leaves are refused, and their callers retry. */
const MAX_READS = 3;
/** Commits of one backlog, each of thousands of rows. */
const MAX_COMMITS = 50;

/** Leaves of one pool that are decided together. */
export type Together = { readonly masterLogin: string; readonly leaves: readonly PooledDeparture[] };

/**
 * Decides leaves of one pool, each of another Investor, in one transaction under the lock of the Master's row: it allocates and strikes up to the
 * log position of a reading at which the Master is flat, decides the fees that are due, takes the amounts out of the pool and reserves them. No
 * money is sent from here. Throws a refusal when nothing was recorded, and FeesNotKnown.
 */
export async function decideInPool(deps: Deps, together: Together, parent: CallContext): Promise<DecidedTogether> {
  const context = childContext(parent, { withinMs: READ_MS });
  const { masterLogin, leaves } = together;
  const investorLogins = leaves.map(({ leave }) => leave.investorLogin);
  let reads = 0;
  for (let commits = 0; commits < MAX_COMMITS && reads < MAX_READS; commits += 1) {
    const [reading, terms] = await Promise.all([
      readMaster(deps, masterLogin, context),
      askTerms(deps, { masterLogin, investorLogins }, context).catch((error: unknown) => new FeesNotKnown(error)),
    ]);
    if (terms instanceof FeesNotKnown) throw terms;
    const [reason] = departureReasons({ master: { isComplete: reading.isComplete, openPositions: reading.marks.length } });
    if (reason !== undefined) throw reason;
    const end = await inTransaction(deps.pool, (tx) => decideAt(tx, deps, together, { reading, terms }));
    if (typeof end === "object") {
      for (const kind of new Set(leaves.map(({ leave }) => leave.kind))) failpoint("after_leave", kind);
      return end;
    }
    if (end === "moved") reads += 1;
  }
  throw allocationInProgress(
    "The Master traded while its latest deals were being allocated to its Investors. Nothing was executed. Send the request again in a second.",
  );
}

/** The leaves that are decided now, by key, and keys of those that wait for fees of a closed week. The others have a recorded outcome. */
export type DecidedTogether = {
  readonly decided: ReadonlyMap<string, DecidedWithFees>;
  readonly waiting: ReadonlySet<string>;
};

const NONE: DecidedTogether = { decided: new Map(), waiting: new Set() };

/** `fee` has not answered: nothing was decided. */
export class FeesNotKnown extends Error {
  constructor(cause: unknown) {
    super("terms of fees are not known", { cause });
  }
}

type Facts = { readonly reading: MasterReading; readonly terms: AskedTerms };

/** "more": the backlog of deals continues. "moved": the Master has traded since the reading. */
async function decideAt(
  tx: Transaction,
  deps: Deps,
  { masterLogin, leaves }: Together,
  { reading, terms }: Facts,
): Promise<DecidedTogether | "more" | "moved"> {
  const { requestedAt: at, logNumber: through } = reading;
  const master = await lockMaster(tx, masterLogin);
  assert(master !== undefined, "a holding belongs to a Master");
  const logins = leaves.map(({ leave }) => leave.investorLogin);
  const { ledger, end } = await openLedger(tx, deps, master, {
    through,
    // The complete log of a flat Master is a stronger proof than the wait after the cut-off, so all ended weeks close.
    reading: { at, marks: [], closeThrough: lastCutOff(deps.week, at) },
    logins,
    isForStrike: true,
  });
  const isAtReading = end === "done" && master.filedNumber === through;
  const struck = isAtReading && master.stoppedReason === null ? await strikeLedger(tx, deps, ledger, []) : undefined;
  await saveLedger(tx, deps, struck ?? ledger);
  if (end === "full") return "more";
  const isStopped = master.stoppedReason !== null || end === "stopped" || (isAtReading && struck === undefined);
  if (isStopped || terms.isStopped) return await refuseAll(tx, deps, leaves, safetyStop(masterLogin, "stopped"));
  if (struck === undefined) return "moved";
  return await decideStruck(tx, deps, leaves, { reading, terms, master: struck.master });
}

async function refuseAll(
  tx: Transaction,
  { now }: Deps,
  leaves: readonly PooledDeparture[],
  refusal: Refusal,
): Promise<DecidedTogether> {
  const recorded = recordedAs(refusal);
  await recordRefusals(
    tx,
    leaves.map(({ leave }) => ({ leave, refusal: recorded })),
    now(),
  );
  return NONE;
}

type Struck = Facts & {
  /** After the strike. */
  readonly master: Master;
};

async function decideStruck(
  tx: Transaction,
  deps: Deps,
  leaves: readonly PooledDeparture[],
  struck: Struck,
): Promise<DecidedTogether | "more"> {
  const { terms, master } = struck;
  const { login: masterLogin, lastAllocation: throughNumber } = master;
  const database = await readDatabase(tx);
  const logins = leaves.map(({ leave }) => leave.investorLogin);
  const states = await listInvestorStates(tx, logins);
  const books = await lockDeparting(tx, await lockAccounts(tx, logins), leaves);
  const refused = books.flatMap(({ waiting, ...own }) => {
    const reason = reasonOf(waiting, own, { database, state: states.get(waiting.leave.investorLogin) });
    return reason === undefined ? [] : [{ leave: waiting.leave, refusal: recordedAs(reason) }];
  });
  await recordRefusals(tx, refused, deps.now());
  const isRefused = new Set(refused.map(({ leave }) => leave.key));
  const possible = books.filter(({ waiting }) => !isRefused.has(waiting.leave.key));
  const uncounted = isSameDatabase(terms.database, database)
    ? await listUncounted(
        tx,
        masterLogin,
        possible.map(({ waiting }) => waiting.holding.subscriptionId),
        terms.askedAt,
      )
    : new Set(possible.map(({ waiting }) => waiting.holding.subscriptionId));
  const counted = possible.filter(({ waiting }) => !uncounted.has(waiting.holding.subscriptionId));
  const pairs = await lockPairs(
    tx,
    masterLogin,
    counted.map(({ waiting }) => waiting.leave.investorLogin),
  );
  const before = counted.map(({ waiting: { leave } }) => {
    const pair = pairs.get(leave.investorLogin);
    assert(pair !== undefined, "an Investor in a pool has a pair");
    return { pair, terms: terms.of(leave.investorLogin).terms };
  });
  const folded = await foldPairs(tx, masterLogin, before, throughNumber);
  if (folded.some((pair) => pair.foldedNumber < throughNumber || isEarnedBefore(pair, terms.since))) {
    await savePairs(tx, folded);
    return "more";
  }
  const due = folded.flatMap((pair, index): WithFees[] => {
    const each = counted[index];
    return each === undefined ? [] : [withFees(each, pair, struck)];
  });
  const decided = await carryOut(tx, deps, due, struck);
  const waiting = possible.filter((each) => !counted.includes(each)).map((each) => each.waiting.leave.key);
  return { decided, waiting: new Set(waiting) };
}

/** Why a leave is refused at the log position of the reading. */
function reasonOf(
  { leave: { kind, heldLogNumber: heldNumber }, database: heldIn }: PooledDeparture,
  { account, holding }: DepartingBooks,
  { database, state }: { readonly database: string; readonly state: InvestorState | undefined },
): Refusal | undefined {
  // The account lock, and the record of the caller, may be among the commits that another database has lost: no caller would return the reserve.
  if (heldIn !== database) {
    return accountBusy(
      "The database was restarted or restored while the request was decided. Nothing was executed. Send the request again in a second.",
    );
  }
  const { inbound, waiting, pooled } = holding.buckets;
  // An exit takes back what waits on the account for the end of a deficit, or for an archived Master.
  const isHeld = state?.holding?.isHeld === true && kind === "EXIT";
  const isMoving = (inbound !== 0n && !isHeld) || waiting !== 0n || !holding.isPooled;
  return departureReasons({ account: { filedNumber: account.filedNumber, heldNumber }, share: { isMoving, pooled } })[0];
}

/** A leave with what is due of its Investor. */
type WithFees = DepartingBooks & {
  readonly waiting: PooledDeparture;
  readonly due: DueOfDeparture;
  /** Before and after the decision. */
  readonly pair: Pair;
  readonly after: Pair;
};

/** Money leaves a pool only while the Master is flat, so there is no floating result. */
function withFees(
  books: DepartingBooks & { readonly waiting: PooledDeparture },
  pair: Pair,
  { reading: { requestedAt: at }, terms, master: { lastAllocation: throughNumber } }: Struck,
): WithFees {
  const { leave } = books.waiting;
  const { masterLogin, earnings, crystallisedAt: since } = pair;
  const facts = terms.of(leave.investorLogin);
  const own = { masterLogin, earnings, terms: facts.terms, debts: facts.debts, throughNumber, since, at };
  const decided = decideDue({ ...own, floating: 0n, markedAt: undefined });
  const after = decidedPair(pair, decided.earnings, at);
  return { ...books, pair, after, due: dueOfDeparture(leave, decided.due, facts) };
}

async function carryOut(
  tx: Transaction,
  deps: Deps,
  counted: readonly WithFees[],
  { reading: { requestedAt: at, logNumber: settledNumber }, master }: Struck,
): Promise<ReadonlyMap<string, DecidedWithFees>> {
  const { login: masterLogin, lastAllocation: allocationNumber } = master;
  const decisions = await decideAmounts(
    tx,
    counted.map(({ waiting: { leave }, account, holding, due }) => {
      const { unposted, quarantined } = account.buckets;
      return { leave, due, held: leave.heldBalance, unposted, quarantined, pooled: holding.buckets.pooled };
    }),
  );
  const decided = decisions.flatMap((decision, index) => {
    const each = counted[index];
    if (each === undefined) return [];
    const { waiting, account, holding, due, pair, after } = each;
    const position = { holding: waiting.holding, settledNumber, allocationNumber };
    const record: DecidedLeave = { ...waiting.leave, ...decision.numbers, ...position };
    const fees = feesOfDeparture(waiting.leave, due, {
      masterLogin,
      starts: [pair.crystallisedAt, lastCutOff(deps.week, at)],
      at,
    });
    const leaving = { leave: { ...waiting.leave, ...waiting.holding }, books: { account, holding }, decision };
    return [{ record, leaving, fees, pair: after }];
  });
  const recorded = await recordDecided(
    tx,
    decided.map(({ record }) => record),
    deps.now(),
  );
  // Another replica has recorded an outcome of the others.
  const own = decided.filter(({ record }) => recorded.has(record.key));
  await savePairs(
    tx,
    own.map(({ pair }) => pair),
  );
  await takeOut(
    tx,
    deps,
    masterLogin,
    own.map(({ leaving }) => leaving),
  );
  const inserted = await insertDecisions(
    tx,
    own.flatMap(({ fees }) => fees ?? []),
  );
  const feesOf = new Map<string, FeeDecision>(inserted.map((fees) => [fees.departureKey, fees]));
  return new Map(own.map(({ record }) => [record.key, { leave: leaveOf(record), fees: feesOf.get(record.key) }]));
}

async function takeOut(tx: Transaction, deps: Deps, masterLogin: string, leaving: readonly Leaving[]): Promise<void> {
  if (leaving.length === 0) return;
  const at = deps.now();
  const master = await lockMaster(tx, masterLogin);
  assert(master !== undefined);
  const ids = leaving.map(({ leave }) => leave.subscriptionId);
  await takeOutOfPool(tx, deps, { master, pool: await lockFlows(tx, master, ids), leaving, at });
  await insertReserves(
    tx,
    leaving.flatMap(({ leave: { subscriptionId }, decision }) =>
      decision.reserves.map((reserve) => ({ ...reserve, subscriptionId, isOutside: false })),
    ),
    at,
  );
}
