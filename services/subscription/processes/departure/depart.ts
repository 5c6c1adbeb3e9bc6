import assert from "node:assert/strict";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { failpoint } from "#kernel/process/failpoint.ts";
import { usd } from "#kernel/values/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { waitsAfter } from "#catalogue/queue-until-flat.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { RECOVERY_GRACE_MS } from "#kernel/jobs/retry.ts";
import type { Deps } from "../../deps.ts";
import { accountBusy, platformUnavailable } from "../../domain/lock-refusals.ts";
import { MAX_WAITING_OF_INVESTOR, tooManyQueued } from "../../domain/departure-reasons.ts";
import {
  beginNextTry,
  type Departure,
  findDeparture,
  getDeparture,
  isUndecided,
  type NewDeparture,
} from "../../store/departures.ts";
import { countWaitingOf, markWaiting } from "../../store/departure-queue.ts";
import { askTermsOf } from "../../fees/ask-terms.ts";
import { holdLock, releaseLock } from "../account-lock.ts";
import { waitBudget, type WaitBudget } from "../deadlines.ts";
import { complete, type Completed, type DepartureWithFees } from "./complete.ts";
import { decide } from "./decide.ts";
import { namesOf, outcomeUnknown, refuse, release } from "./end.ts";
import { publishProgress } from "../../messages/capital-events.ts";

/** How long a command waits for another one on the same Investor and for a temporary refusal to pass, by default. */
const MAX_WAIT_MS = 6_000;
/** Each try reads the account on the platform. */
const PAUSE_MS = 200;
/** Refusals that may not apply a moment later. */
const PASSING = new Set(["account_busy", "allocation_in_progress"]);
/** Refusals of a subscription that has ended, by another command. */
const LEFT = new Set(["exit_in_progress", "subscription_not_active"]);
/** How long a repeated command waits for the process that works on its first request. */
const MAX_JOIN_MS = 9_000;

type Wanted = Omit<NewDeparture, "at" | "requestId" | "recoverInMs">;

/**
 * Begins a departure and carries it out; one that has begun before is joined: its process goes on while the caller waits for its end, and
 * what is decided is completed here too. Undefined: another exit of the subscription waits, so none may begin.
 */
export async function beginOrJoin(deps: Deps, wanted: Wanted, context: CallContext): Promise<Completed | undefined> {
  const times = { at: deps.now(), recoverInMs: Math.max(remainingMs(context), 0) + RECOVERY_GRACE_MS };
  const begun = await deps.departureCommits.begin.add({ ...wanted, ...times, requestId: context.requestId });
  if (begun !== undefined) return await depart(deps, begun, context);
  const known = await findDeparture(deps.pool, wanted.operationId);
  return known && (await join(deps, known, context));
}

/** A repeated command that was refused, and was not to wait, tries again. */
export async function join(deps: Deps, known: Departure, context: CallContext): Promise<Completed> {
  const { operationId, kind, queueUntil } = known;
  if (known.state === "REFUSED" && kind === "EXIT" && queueUntil === null) {
    const times = { deadlineAt: context.deadline, recoverInMs: remainingMs(context) + RECOVERY_GRACE_MS };
    const again = await beginNextTry(deps.pool, known, { from: "REFUSED", ...times });
    if (again !== undefined) return await depart(deps, again, context);
  }
  const wait = waitBudget(context, MAX_JOIN_MS);
  for (let departure: Departure | undefined = known; ; await wait.pause()) {
    if (departure !== undefined && departure.state !== "WANTED") return await depart(deps, departure, context);
    // The queue tries it, while no caller waits.
    if (departure?.hasWaited === true) return departure;
    if (wait.isOver()) throw outcomeUnknown({ operationId });
    departure = await findDeparture(deps.pool, operationId);
  }
}

/**
 * Continues a departure whose try this process has begun, or that is decided, until it has ended or waits for its Master: account lock, decision, results and
 * fees, payout. Each turn handles one state and records the next one. What is decided is always completed: after a crash
 * the recovery job continues from the row. Throws outcome_unknown while it goes on elsewhere.
 */
export async function depart(
  deps: Deps,
  begun: Departure,
  context: CallContext,
  maxWaitMs = MAX_WAIT_MS,
): Promise<Completed> {
  const wait = waitBudget(context, maxWaitMs);
  let departure: DepartureWithFees = begun;
  for (;;) {
    failpoint("before_departure_step", departure.state);
    switch (departure.state) {
      case "WANTED":
        departure = await tryToLeave(deps, departure, { wait, context });
        break;
      case "DECIDED":
        return await complete(deps, departure, context);
      case "WAITING":
      case "ENDED":
      case "REFUSED":
        return departure;
    }
  }
}

/** The command or job that a try is of, and how long it may wait. */
type Call = { readonly wait: WaitBudget; readonly context: CallContext };

/** One try: takes the account lock, and decides. Returns the departure as it is then: decided, or ended, waiting, or in its next try. */
async function tryToLeave(deps: Deps, departure: Departure, { wait, context }: Call): Promise<DepartureWithFees> {
  let refusal: Refusal;
  try {
    const { kind, hasWaited, deadlineAt } = departure;
    if (kind === "WITHDRAWAL" && !hasWaited && deps.now() >= deadlineAt) throw notBegun();
    const { investorLogin } = departure;
    const masterLogin = (await deps.accountReads.investor(investorLogin))?.holding?.masterLogin;
    const asking = masterLogin && askTermsOf(deps, masterLogin, investorLogin).catch(() => undefined);
    const held = await holdLock(deps, { ...lockOf(departure), masterLogin }, context);
    const { balance: heldBalance, logNumber: heldLogNumber, master: reading, books } = held;
    const terms = (await asking) || undefined;
    const end = await decide(deps, { ...departure, heldBalance, heldLogNumber, reading, books, terms }, context);
    if (end.kind === "decided") return end.departure;
    if (end.kind === "moved") return await movedOn(deps, departure);
    ({ refusal } = end);
  } catch (error) {
    if (error instanceof Refusal && error.outcome === "unknown") throw error;
    if (!(error instanceof Refusal)) deps.log.warn("departure not decided", { ...namesOf(departure), error });
    refusal =
      error instanceof Refusal
        ? error
        : accountBusy(
            "The request could not be decided in time, so it was aborted. Nothing was executed. Send the request again in a second.",
          );
  }
  return await endTry(deps, departure, refusal, { wait, context });
}

/** The row keeps this answer: a request that was held up until after its deadline, or whose clock is behind, finds it. */
function notBegun(): Refusal {
  return platformUnavailable("The operation could not begin in time. Nothing was executed.");
}

function lockOf({ kind, investorLogin: login, lockOwner, requested, comment }: Departure) {
  assert(lockOwner !== null, "a try has an account lock");
  const lock = { login, lockOwner };
  if (kind === "EXIT") return { ...lock, acceptsArchived: true };
  return { ...lock, withdrawal: { amount: moneyToProto(usd(requested)), comment } };
}

/** The row after another process has ended the try, or decided it. */
async function movedOn({ pool }: Deps, { operationId, try: number }: Departure): Promise<Departure> {
  const departure = await getDeparture(pool, operationId);
  // The next try is not of this process.
  if (departure.state === "WANTED" && departure.try !== number) throw outcomeUnknown(departure);
  assert(departure.state !== "WANTED", "a try that still runs can be decided");
  return departure;
}

/**
 * A try was refused, and nothing has left: the next one begins, the departure waits until its Master is flat, or it ends with the refusal. First
 * the row has to say that nothing is decided, also when the outcome of a commit is not known: only then the account lock is released.
 */
async function endTry(deps: Deps, departure: Departure, refusal: Refusal, { wait, context }: Call): Promise<Departure> {
  if (mayWait(departure, refusal)) return await beginToWait(deps, departure, refusal, context);
  if (!PASSING.has(refusal.code) || wait.isOver()) return await endRefused(deps, departure, refusal, context);
  if (!(await isUndecided(deps.pool, departure))) return await movedOn(deps, departure);
  const { login, lockOwner } = lockOf(departure);
  const isReleased = await releaseLock(deps, { login, lockOwner }, context);
  if (!isReleased) return await endRefused(deps, departure, refusal, context);
  await wait.pause(PAUSE_MS);
  const recoverInMs = Math.max(remainingMs(context), 0) + RECOVERY_GRACE_MS;
  const { deadlineAt } = departure;
  const next = await beginNextTry(deps.pool, departure, { from: "WANTED", deadlineAt, recoverInMs });
  return next ?? (await movedOn(deps, departure));
}

async function endRefused(
  deps: Deps,
  departure: Departure,
  refusal: Refusal,
  context: CallContext,
): Promise<Departure> {
  return (await refuse(deps, departure, refusal, context)) ?? (await movedOn(deps, departure));
}

/** That of a Master that is being closed waits until the Investor has left. */
function mayWait({ isClosing, queueUntil, hasWaited }: Departure, refusal: Refusal): boolean {
  if (isClosing) return !LEFT.has(refusal.code);
  if (queueUntil === null) return false;
  return waitsAfter(hasWaited ? "RUNNING" : "WANTED", refusal);
}

/** WAITING comes before the release: from then on no process that is late can decide. The next try begins when the account lock is released. */
async function beginToWait(
  deps: Deps,
  departure: Departure,
  refusal: Refusal,
  context: CallContext,
): Promise<Departure> {
  const { kind, investorLogin, hasWaited } = departure;
  failpoint("before_waiting", kind);
  const end = await inTransaction(deps.pool, async (tx) => {
    const isNew = kind === "WITHDRAWAL" && !hasWaited;
    if (isNew && (await countWaitingOf(tx, investorLogin)) >= MAX_WAITING_OF_INVESTOR) return "full";
    const isMoved = await markWaiting(tx, departure, refusal.code);
    if (isMoved) publishProgress(tx, departure, "WAITING");
    return isMoved ? "waits" : "moved";
  });
  failpoint("after_waiting", kind);
  if (end === "full") return await endRefused(deps, departure, tooManyQueued(), context);
  if (end === "moved") return await movedOn(deps, departure);
  await release(deps, departure, context);
  deps.wakeSignals.queue.notify();
  return { ...departure, state: "WAITING", hasWaited: true };
}

/** The process of the try is gone, and nothing is decided: it waits if its caller has allowed that, or ends. */
export async function abandonTry(deps: Deps, departure: Departure, context: CallContext): Promise<void> {
  const aborted = accountBusy(
    "The request took longer than its caller waits, and was aborted. Nothing was executed. Send the request again in a second.",
  );
  const waits = departure.isClosing || departure.queueUntil !== null;
  await (waits ? beginToWait : endRefused)(deps, departure, aborted, context);
}
