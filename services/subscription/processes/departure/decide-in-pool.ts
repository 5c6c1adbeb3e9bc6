import assert from "node:assert/strict";
import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failpoint } from "#kernel/process/failpoint.ts";
import { isSameDatabase } from "#kernel/postgres/database-identity.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import type { Deps } from "../../deps.ts";
import type { AccountBook, HoldingBook } from "../../domain/books.ts";
import { decideDue } from "../../domain/fees/due.ts";
import { allocationInProgress, checkDeparture, departureReasons } from "../../domain/departure-reasons.ts";
import type { UnitPool } from "../../domain/pool/unit-pool.ts";
import { safetyStop } from "../../domain/safety-stop.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { listUncounted } from "../../store/fee-decisions.ts";
import { lockHoldings } from "../../store/holdings.ts";
import { listInvestorStates } from "../../store/investor-states.ts";
import { lockMaster, type Master } from "../../store/masters.ts";
import { lockPairs, type Pair, savePairs } from "../../store/pairs.ts";
import { openLedger, saveLedger, strikeLedger } from "../allocate/ledger.ts";
import { type MasterReading, readMaster } from "../allocate/read-master.ts";
import { askTerms, type AskedTerms, termsTogether } from "../../fees/ask-terms.ts";
import { decidedPair } from "../../fees/decide-due.ts";
import { dueOfDeparture } from "../../fees/due-of-departure.ts";
import { foldPairs, isEarnedBefore } from "../../fees/fold-pairs.ts";
import { begunElsewhere, carryOut, type DecisionEnd, type Ends, feesWait, type HeldDeparture } from "./carry-out.ts";
import { takeOutOfPool } from "./take-out.ts";

/** Short, because other departures of the pool wait for their turn. */
const READ_MS = 3_000;
/** Readings that trades of the Master may outdate; then the departures are refused, and their callers retry. */
const MAX_READS = 3;
/** Commits of one backlog, each of thousands of rows. */
const MAX_COMMITS = 50;

/** One from a pool, with what is recorded of it when it is decided. */
export type PooledDeparture = HeldDeparture & { readonly subscriptionId: bigint; readonly masterLogin: string };

/** Departures of one pool that are decided together, each of another Investor. */
export type Together = { readonly masterLogin: string; readonly departures: readonly PooledDeparture[] };

/**
 * Decides departures of one pool in one transaction under the lock of the Master's row: it allocates and strikes up to the log position of a
 * reading at which the Master is flat, decides the fees that are due, takes the amounts out of the pool and reserves them. No money is sent
 * from here. Throws a refusal of all of them; then nothing was decided.
 */
export async function decideInPool(deps: Deps, together: Together, parent: CallContext): Promise<Ends> {
  const context = childContext(parent, { withinMs: READ_MS });
  const { masterLogin, departures } = together;
  const investorLogins = departures.map(({ investorLogin }) => investorLogin);
  let reads = 0;
  let known: { readonly [Fact in keyof Facts]?: Facts[Fact] | undefined } = {
    reading: latestReading(together),
    terms: knownTerms(departures),
  };
  for (let commits = 0; commits < MAX_COMMITS && reads < MAX_READS; commits += 1) {
    const [reading, terms] = await Promise.all([
      known.reading ?? readMaster(deps, masterLogin, context),
      known.terms ?? askTerms(deps, { masterLogin, investorLogins }, context).catch(feesWait),
    ]);
    if ("kind" in terms) return allWith(departures, terms);
    checkDeparture({ master: { isComplete: reading.isComplete, openPositions: reading.marks.length } });
    const end = await inTransaction(deps.pool, (tx) => decideAt(tx, deps, together, { reading, terms }));
    if (typeof end === "object") {
      for (const kind of new Set(departures.map((departure) => departure.kind))) failpoint("after_decision", kind);
      return end;
    }
    if (end === "moved" && known.reading === undefined) reads += 1;
    known = {};
  }
  throw allocationInProgress(
    "The Master traded while its latest deals were being allocated to its Investors. Nothing was executed. Send the request again in a second.",
  );
}

function allWith(departures: readonly PooledDeparture[], end: DecisionEnd): Ends {
  return new Map(departures.map(({ operationId }) => [operationId, end]));
}

/** The latest of those that came with the account locks. One with open positions is read again: they may be closed by now. */
function latestReading({ masterLogin, departures }: Together): MasterReading | undefined {
  const flat = departures.flatMap(({ reading }) =>
    reading?.login === masterLogin && reading.marks.length === 0 ? reading : [],
  );
  return flat.toSorted((one, other) => Number(other.logNumber - one.logNumber)).at(0);
}

/** Those that came while the account locks were taken, when each departure has its own. */
function knownTerms(departures: readonly PooledDeparture[]): AskedTerms | undefined {
  const known = departures.flatMap(({ investorLogin, terms }) =>
    terms === undefined ? [] : [[investorLogin, terms] as const],
  );
  return known.length === departures.length ? termsTogether(new Map(known)) : undefined;
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
  const { ledger, accounts, end } = await openLedger(tx, deps, master, {
    through,
    // The complete log of a flat Master is a stronger proof than the wait after the cut-off, so all ended weeks close.
    reading: { at, marks: [], closeThrough: lastCutOff(deps.week, at) },
    logins: departures.map(({ investorLogin }) => investorLogin),
    subscriptionIds: departures.map(({ subscriptionId }) => subscriptionId),
    isForStrike: true,
  });
  const isAtReading = end === "done" && master.filedNumber === through;
  const struck = isAtReading && master.stoppedReason === null ? await strikeLedger(tx, deps, ledger, []) : undefined;
  await saveLedger(tx, deps, struck ?? ledger);
  if (end === "full") return "more";
  const isStopped = master.stoppedReason !== null || end === "stopped" || (isAtReading && struck === undefined);
  if (isStopped || terms.isStopped) {
    return allWith(departures, { kind: "refused", refusal: safetyStop(masterLogin, "stopped") });
  }
  if (struck === undefined) return "moved";
  const { pool } = struck;
  return await decideStruck(tx, deps, departures, { reading, terms, accounts, pool, master: struck.master });
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
  { reading: { requestedAt: at }, terms, master, accounts, pool }: Struck,
): Promise<Ends | "more"> {
  const { login: masterLogin, database, lastAllocation: throughNumber } = master;
  const all = await lockBooks(tx, accounts, departures);
  const held = await listHeld(tx, all);
  const uncounted = isSameDatabase(terms.database, database)
    ? await listUncounted(tx, masterLogin, departures, terms.askedAt)
    : new Set(departures.map(({ investorLogin }) => investorLogin));
  const ends = new Map<string, DecisionEnd>();
  const counted = all.filter((each) => {
    const { operationId, investorLogin } = each.departure;
    const refusal = reasonOf(each, { database, isHeld: held.has(investorLogin) });
    if (refusal !== undefined) ends.set(operationId, { kind: "refused", refusal });
    else if (uncounted.has(investorLogin)) ends.set(operationId, feesWait());
    return !ends.has(operationId);
  });
  const logins = counted.map(({ departure }) => departure.investorLogin);
  const pairs = await lockPairs(tx, masterLogin, logins);
  const before = logins.map((login) => {
    const pair = pairs.get(login);
    assert(pair !== undefined, "an Investor in a pool has a pair");
    return { pair, terms: terms.of(login).terms };
  });
  const folded = await foldPairs(tx, masterLogin, before, throughNumber);
  if (folded.some((pair) => pair.foldedNumber < throughNumber || isEarnedBefore(pair, terms.of(pair.investorLogin)))) {
    await savePairs(tx, folded);
    return "more";
  }
  const leavers = folded.flatMap((pair, index) => {
    const each = counted[index];
    return each === undefined ? [] : { ...each, ...dueOf(each, pair, { terms, throughNumber, at }) };
  });
  const decided = await carryOut(tx, deps, leavers, {
    at,
    allocationNumber: throughNumber,
    async take(leaving) {
      await savePairs(
        tx,
        leaving.map(({ pair }) => pair),
      );
      await takeOutOfPool(tx, deps, { masterLogin, pool, leaving, at: deps.now() });
    },
  });
  return new Map([...ends, ...decided]);
}

/** A departure with the books of its Investor. */
type WithBooks = {
  readonly departure: PooledDeparture;
  readonly account: AccountBook;
  readonly holding: HoldingBook;
};

/** Locks the holdings. The caller has locked the Master and the accounts. */
async function lockBooks(
  tx: Transaction,
  accounts: readonly AccountBook[],
  departures: readonly PooledDeparture[],
): Promise<WithBooks[]> {
  const holdings = await lockHoldings(
    tx,
    departures.map(({ subscriptionId }) => subscriptionId),
  );
  return departures.map((departure) => {
    const account = accounts.find(({ login }) => login === departure.investorLogin);
    const holding = holdings.find(({ subscriptionId }) => subscriptionId === departure.subscriptionId);
    assert(account !== undefined && holding !== undefined, "an Investor that leaves a pool has a holding");
    return { departure, account, holding };
  });
}

/** The Investors whose inflows wait on their accounts for the end of a deficit, or for an archived Master. */
async function listHeld(tx: Transaction, books: readonly WithBooks[]): Promise<ReadonlySet<string>> {
  const inbound = books.flatMap(({ account, holding }) => (holding.buckets.inbound === 0n ? [] : account.login));
  const states = inbound.length === 0 ? [] : [...(await listInvestorStates(tx, inbound))];
  return new Set(states.flatMap(([login, { holding }]) => (holding?.isHeld === true ? login : [])));
}

/** Why a departure is refused at the log position of the reading. */
function reasonOf(
  { departure: { kind, heldLogNumber: heldNumber, database: begunIn }, account, holding }: WithBooks,
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

/** What is due of a departure, and its pair afterwards. Money leaves a pool only while the Master is flat, so there is no floating result. */
function dueOf(
  { departure, account, holding }: WithBooks,
  before: Pair,
  { terms, ...flat }: { readonly terms: AskedTerms; readonly throughNumber: bigint; readonly at: Date },
) {
  const { masterLogin, earnings, crystallisedAt: since } = before;
  const facts = terms.of(departure.investorLogin);
  const own = { masterLogin, earnings, terms: facts.terms, debts: facts.debts, since, ...flat };
  const decided = decideDue({ ...own, floating: 0n, markedAt: undefined });
  const { unposted, quarantined } = account.buckets;
  const amounts = { held: departure.heldBalance, unposted, quarantined, pooled: holding.buckets.pooled };
  const pair = decidedPair(before, decided.earnings, flat.at);
  return { due: dueOfDeparture(departure, decided.due, facts), amounts, since, pair };
}
