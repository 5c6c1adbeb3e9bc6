import assert from "node:assert/strict";
import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failpoint } from "#kernel/process/failpoint.ts";
import { isSameDatabase } from "#kernel/postgres/database-identity.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import type { Deps } from "../../deps.ts";
import type { AccountBook } from "../../domain/books.ts";
import { decideDue } from "../../domain/fees/due.ts";
import { allocationInProgress, checkDeparture, departureReasons } from "../../domain/departure-reasons.ts";
import { departureKey } from "../../domain/departure.ts";
import type { UnitPool } from "../../domain/pool/unit-pool.ts";
import { safetyStop } from "../../domain/safety-stop.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { type FeeDecision, insertDecisions, listUncounted } from "../../store/fee-decisions.ts";
import { listInvestorStates } from "../../store/investor-states.ts";
import { markDecided } from "../../store/departures.ts";
import { lockMaster, type Master } from "../../store/masters.ts";
import { lockPairs, type Pair, savePairs } from "../../store/pairs.ts";
import { insertReserves } from "../../store/reserves.ts";
import { openLedger, saveLedger, strikeLedger } from "../allocate/ledger.ts";
import { type MasterReading, readMaster } from "../allocate/read-master.ts";
import { askTerms, type AskedTerms, termsTogether } from "../../fees/ask-terms.ts";
import { decidedPair } from "../../fees/decide-due.ts";
import { decideAmounts, type DueOfDeparture, dueOfDeparture } from "../../fees/due-of-departure.ts";
import { foldPairs, isEarnedBefore } from "../../fees/fold-pairs.ts";
import { takeOutOfPool } from "./take-out.ts";
import {
  begunElsewhere,
  bucketsAfter,
  type DecisionEnd,
  type DepartingBooks,
  feesOfDeparture,
  feesWait,
  isPosted,
  leftStatusOf,
  lockDeparting,
  type PooledDeparture,
} from "./departing.ts";

/** Short, because other departures of the pool wait for their turn. */
const READ_MS = 3_000;
/** Readings that trades of the Master may outdate; then the departures are refused, and their callers retry. */
const MAX_READS = 3;
/** Commits of one backlog, each of thousands of rows. */
const MAX_COMMITS = 50;

/** Departures of one pool that are decided together, each of another Investor. */
export type Together = { readonly masterLogin: string; readonly departures: readonly PooledDeparture[] };

/** By the id of the operation; "moved" for those that are not named. */
export type Ends = ReadonlyMap<string, DecisionEnd>;

/**
 * Decides departures of one pool in one transaction under the lock of the Master's row: it allocates and strikes up to the log position of a
 * reading at which the Master is flat, decides the fees that are due, takes the amounts out of the pool and reserves them. No money is sent
 * from here. Throws a refusal of all of them, and FeesNotKnown; then nothing was decided.
 */
export async function decideInPool(deps: Deps, together: Together, parent: CallContext): Promise<Ends> {
  const context = childContext(parent, { withinMs: READ_MS });
  const { masterLogin, departures } = together;
  const investorLogins = departures.map(({ departure }) => departure.investorLogin);
  let reads = 0;
  let known: { readonly [Fact in keyof Facts]?: Facts[Fact] | undefined } = {
    reading: latestReading(together),
    terms: knownTerms(departures),
  };
  for (let commits = 0; commits < MAX_COMMITS && reads < MAX_READS; commits += 1) {
    const [reading, terms] = await Promise.all([
      known.reading ?? readMaster(deps, masterLogin, context),
      known.terms ??
        askTerms(deps, { masterLogin, investorLogins }, context).catch((error: unknown) => new FeesNotKnown(error)),
    ]);
    if (terms instanceof FeesNotKnown) throw terms;
    checkDeparture({ master: { isComplete: reading.isComplete, openPositions: reading.marks.length } });
    const end = await inTransaction(deps.pool, (tx) => decideAt(tx, deps, together, { reading, terms }));
    if (typeof end === "object") {
      for (const kind of new Set(departures.map(({ departure }) => departure.kind))) failpoint("after_decision", kind);
      return end;
    }
    if (end === "moved" && known.reading === undefined) reads += 1;
    known = {};
  }
  throw allocationInProgress(
    "The Master traded while its latest deals were being allocated to its Investors. Nothing was executed. Send the request again in a second.",
  );
}

/** The latest of those that came with the account locks. One with open positions is read again: they may be closed by now. */
function latestReading({ masterLogin, departures }: Together): MasterReading | undefined {
  const flat = departures.flatMap(({ departure: { reading } }) =>
    reading?.login === masterLogin && reading.marks.length === 0 ? reading : [],
  );
  return flat.toSorted((one, other) => Number(other.logNumber - one.logNumber)).at(0);
}

/** Those that came while the account locks were taken, when each departure has its own. */
function knownTerms(departures: readonly PooledDeparture[]): AskedTerms | undefined {
  const known = departures.flatMap(({ departure: { investorLogin, terms } }) =>
    terms === undefined ? [] : [[investorLogin, terms] as const],
  );
  return known.length === departures.length ? termsTogether(new Map(known)) : undefined;
}

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
  { masterLogin, departures }: Together,
  { reading, terms }: Facts,
): Promise<Ends | "more" | "moved"> {
  const { requestedAt: at, logNumber: through } = reading;
  const master = await lockMaster(tx, masterLogin);
  assert(master !== undefined, "a holding belongs to a Master");
  const logins = departures.map(({ departure }) => departure.investorLogin);
  const { ledger, accounts, end } = await openLedger(tx, deps, master, {
    through,
    // The complete log of a flat Master is a stronger proof than the wait after the cut-off, so all ended weeks close.
    reading: { at, marks: [], closeThrough: lastCutOff(deps.week, at) },
    logins,
    subscriptionIds: departures.map(({ holding }) => holding.subscriptionId),
    isForStrike: true,
  });
  const isAtReading = end === "done" && master.filedNumber === through;
  const struck = isAtReading && master.stoppedReason === null ? await strikeLedger(tx, deps, ledger, []) : undefined;
  await saveLedger(tx, deps, struck ?? ledger);
  if (end === "full") return "more";
  const isStopped = master.stoppedReason !== null || end === "stopped" || (isAtReading && struck === undefined);
  if (isStopped || terms.isStopped) return refusedAll(departures, safetyStop(masterLogin, "stopped"));
  if (struck === undefined) return "moved";
  const { pool } = struck;
  return await decideStruck(tx, deps, departures, { reading, terms, accounts, pool, master: struck.master });
}

function refusedAll(departures: readonly PooledDeparture[], refusal: Refusal): Ends {
  return new Map(departures.map(({ departure }) => [departure.operationId, { kind: "refused", refusal }]));
}

/** After the strike. */
type Struck = Facts & {
  readonly master: Master;
  readonly pool: UnitPool;
  readonly accounts: readonly AccountBook[];
};

async function decideStruck(
  tx: Transaction,
  deps: Deps,
  departures: readonly PooledDeparture[],
  struck: Struck,
): Promise<Ends | "more"> {
  const { terms, master, accounts } = struck;
  const { login: masterLogin, lastAllocation: throughNumber } = master;
  const books = await lockDeparting(tx, accounts, departures);
  const held = await listHeld(tx, books);
  const ends = new Map<string, DecisionEnd>();
  const possible = books.filter(({ pooled, ...own }) => {
    const { operationId, investorLogin } = pooled.departure;
    const refusal = reasonOf(pooled, own, { database: master.database, isHeld: held.has(investorLogin) });
    if (refusal !== undefined) ends.set(operationId, { kind: "refused", refusal });
    return refusal === undefined;
  });
  const ids = possible.map(({ pooled }) => pooled.holding.subscriptionId);
  const uncounted = isSameDatabase(terms.database, master.database)
    ? await listUncounted(tx, masterLogin, ids, terms.askedAt)
    : new Set(ids);
  const counted = possible.filter(({ pooled }) => {
    const isCounted = !uncounted.has(pooled.holding.subscriptionId);
    if (!isCounted) ends.set(pooled.departure.operationId, feesWait());
    return isCounted;
  });
  const pairs = await lockPairs(
    tx,
    masterLogin,
    counted.map(({ pooled }) => pooled.departure.investorLogin),
  );
  const before = counted.map(({ pooled: { departure } }) => {
    const pair = pairs.get(departure.investorLogin);
    assert(pair !== undefined, "an Investor in a pool has a pair");
    return { pair, terms: terms.of(departure.investorLogin).terms };
  });
  const folded = await foldPairs(tx, masterLogin, before, throughNumber);
  if (folded.some((pair) => pair.foldedNumber < throughNumber || isEarnedBefore(pair, terms.of(pair.investorLogin)))) {
    await savePairs(tx, folded);
    return "more";
  }
  const due = folded.flatMap((pair, index): WithFees[] => {
    const each = counted[index];
    return each === undefined ? [] : [withFees(each, pair, struck)];
  });
  for (const end of await carryOut(tx, deps, due, struck)) ends.set(end.departure.operationId, end);
  return ends;
}

/** The Investors whose inflows wait on their accounts for the end of a deficit, or for an archived Master. */
async function listHeld(tx: Transaction, books: readonly DepartingBooks[]): Promise<ReadonlySet<string>> {
  const inbound = books.flatMap(({ account, holding }) => (holding.buckets.inbound === 0n ? [] : account.login));
  const states = inbound.length === 0 ? [] : [...(await listInvestorStates(tx, inbound))];
  return new Set(states.flatMap(([login, { holding }]) => (holding?.isHeld === true ? login : [])));
}

/** Why a departure is refused at the log position of the reading. */
function reasonOf(
  { departure: { kind, heldLogNumber: heldNumber, database: begunIn } }: PooledDeparture,
  { account, holding }: DepartingBooks,
  { database, isHeld }: { readonly database: string; readonly isHeld: boolean },
): Refusal | undefined {
  if (begunIn !== database) return begunElsewhere();
  const { inbound, waiting, pooled } = holding.buckets;
  // An exit takes them back.
  const isMoving = (inbound !== 0n && !(isHeld && kind === "EXIT")) || waiting !== 0n || !holding.isPooled;
  return departureReasons({
    account: { filedNumber: account.filedNumber, heldNumber },
    share: { isMoving, pooled },
  })[0];
}

/** A departure with what is due of its Investor. */
type WithFees = DepartingBooks & {
  readonly pooled: PooledDeparture;
  readonly due: DueOfDeparture;
  /** Before and after the decision. */
  readonly pair: Pair;
  readonly after: Pair;
};

/** Money leaves a pool only while the Master is flat, so there is no floating result. */
function withFees(
  books: DepartingBooks & { readonly pooled: PooledDeparture },
  pair: Pair,
  { reading: { requestedAt: at }, terms, master: { lastAllocation: throughNumber } }: Struck,
): WithFees {
  const { departure } = books.pooled;
  const { masterLogin, earnings, crystallisedAt: since } = pair;
  const facts = terms.of(departure.investorLogin);
  const own = { masterLogin, earnings, terms: facts.terms, debts: facts.debts, throughNumber, since, at };
  const decided = decideDue({ ...own, floating: 0n, markedAt: undefined });
  const after = decidedPair(pair, decided.earnings, at);
  return { ...books, pair, after, due: dueOfDeparture(departure, decided.due, facts) };
}

async function carryOut(
  tx: Transaction,
  deps: Deps,
  counted: readonly WithFees[],
  { reading: { requestedAt: at, logNumber: settledNumber }, master, pool }: Struck,
): Promise<Extract<DecisionEnd, { kind: "decided" }>[]> {
  const { login: masterLogin, lastAllocation: allocationNumber } = master;
  const decisions = await decideAmounts(
    tx,
    counted.map(({ pooled: { departure }, account, holding, due }) => {
      const { unposted, quarantined } = account.buckets;
      return { departure, due, held: departure.heldBalance, unposted, quarantined, pooled: holding.buckets.pooled };
    }),
  );
  const decided = decisions.flatMap((decision, index) => {
    const each = counted[index];
    if (each === undefined) return [];
    const { pooled, account, holding, due, pair, after } = each;
    const { departure } = pooled;
    const buckets = bucketsAfter(departure, holding, decision);
    const position = { ...pooled.holding, settledNumber, allocationNumber };
    const record = { ...departure, ...decision.numbers, ...position, leftStatus: leftStatusOf(departure, buckets) };
    return [{ pooled, books: { account, holding }, due, pair, after, decision, buckets, record }];
  });
  const marked = await markDecided(
    tx,
    decided.map(({ record }) => record),
    deps.now(),
  );
  // The tries of the others have been ended meanwhile.
  const own = decided.flatMap((each) => {
    const requestId = marked.get(each.record.operationId);
    if (requestId === undefined) return [];
    return [
      { ...each, holding: each.pooled.holding, departure: { ...each.record, state: "DECIDED" as const, requestId } },
    ];
  });
  if (own.length === 0) return [];
  await savePairs(
    tx,
    own.map(({ after }) => after),
  );
  const departing = own.map(({ departure, books, decision, buckets }) => ({ departure, books, decision, buckets }));
  const takenAt = deps.now();
  await takeOutOfPool(tx, deps, { masterLogin, pool, departing, at: takenAt });
  await insertReserves(
    tx,
    own.flatMap(({ holding: { subscriptionId }, decision }) =>
      decision.reserves.map((reserve) => ({ ...reserve, subscriptionId, isOutside: false })),
    ),
    takenAt,
  );
  const starts = (pair: Pair) => [pair.crystallisedAt, lastCutOff(deps.week, at)];
  const inserted = await insertDecisions(
    tx,
    own.flatMap(({ departure, due, pair }) => {
      return feesOfDeparture(departure, due, { masterLogin, starts: starts(pair), at }) ?? [];
    }),
  );
  const feesOf = new Map<string, FeeDecision>(inserted.map((fees) => [fees.departureKey, fees]));
  return own.map(({ departure, books: { account } }) => {
    return { kind: "decided", departure, fees: feesOf.get(departureKey(departure)), isPosted: isPosted(account) };
  });
}
