import assert from "node:assert/strict";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { usd } from "#kernel/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import { isTransientFailure } from "#kernel/transient-failure.ts";
import type {
  CrystalliseRequest,
  CrystalliseResponse,
  PrepareRequest,
  PrepareResponse,
} from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { allocationInProgress } from "../domain/allocation-in-progress.ts";
import { refuse } from "../refusals.ts";
import type { Crystallisation } from "../store/crystallisations.ts";
import { dueItem } from "../messages/due-item.ts";
import type { RequestedCrystallisation } from "../processes/accounting/crystallise-together.ts";
import { type Reading, readMaster } from "../processes/accounting/read-master.ts";

/** Reads a Master's allocations in advance, so that the crystallisation that follows has little left to read. */
export async function prepare(
  deps: Deps,
  { masterLogin }: PrepareRequest,
  context: CallContext,
): Promise<PrepareResponse> {
  const { isEnd } = await readInTime(deps, masterLogin, context);
  if (!isEnd) throw allocationInProgress(masterLogin);
  return {};
}

/**
 * Fixes the fees and debts that an Investor owes at an entry of the Master's allocations. Moves no money. A repeated key gets
 * the same answer, also while the Master is stopped; then no new key is decided.
 */
export async function crystallise(
  deps: Deps,
  request: CrystalliseRequest,
  context: CallContext,
): Promise<CrystalliseResponse> {
  const requested = requestedOf(request);
  return answer(requested, await decideNow(deps, requested, context));
}

/**
 * Decides the crystallisation of a decided leave again, which was lost with commits of the database. It comes to the same keys and
 * amounts, so platform answers with what was executed. When a later week was decided before, that week has the fee.
 */
export async function crystalliseAgain(
  deps: Deps,
  request: CrystalliseRequest,
  context: CallContext,
): Promise<Crystallisation> {
  return await decideNow(deps, { ...requestedOf(request), isRepeated: true }, context);
}

async function decideNow(
  deps: Deps,
  requested: RequestedCrystallisation,
  context: CallContext,
): Promise<Crystallisation> {
  const failure = await decide(deps, requested, context);
  const decided = await deps.queues.crystallisations(requested.key);
  if (decided === undefined) throw failure ?? new Error("a decided crystallisation is recorded");
  return decided;
}

function requestedOf(request: CrystalliseRequest): RequestedCrystallisation {
  const { key, investorLogin, subscriptionId, throughNumber, suffix, periodStart, at } = request;
  if (at === undefined || key === "" || suffix === "") {
    throw refuse("validation_failed", "A crystallisation requires a key, an instant and a suffix.");
  }
  if (throughNumber < 0n) {
    throw refuse("validation_failed", "The number of an entry of the allocations is not negative.");
  }
  const masterLogin = request.masterLogin === "" ? undefined : request.masterLogin;
  return { key, investorLogin, masterLogin, subscriptionId, throughNumber, suffix, periodStart, at };
}

/**
 * Decides what is not decided yet. Most Masters are prepared; for another one the allocations up to that entry are read, which
 * decides all weeks closed before it, for all Investors of the pool. Returns why a new key cannot be decided now.
 */
async function decide(
  deps: Deps,
  requested: RequestedCrystallisation,
  context: CallContext,
): Promise<Error | undefined> {
  const { masterLogin, throughNumber: through } = requested;
  const byMs = performance.now() + remainingMs(context);
  try {
    while (performance.now() < byMs) {
      const { kind } = await deps.queues.crystallising.add(requested, byMs);
      if (kind === "decided" || masterLogin === undefined) return undefined;
      if (kind === "folded") failpoint("after_accounting_step", "crystallisation");
      else await readThrough(deps, masterLogin, context, through);
    }
    return allocationInProgress(masterLogin);
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}

/** Reads allocations, at least through an entry, and refuses when the time of the call ends before. */
async function readThrough(deps: Deps, masterLogin: string, context: CallContext, through: bigint): Promise<void> {
  const { number, isEnd } = await readInTime(deps, masterLogin, context, through);
  if (number >= through) return;
  assert(!isEnd, `allocations of ${masterLogin} end with ${number}, before ${through}`);
  throw allocationInProgress(masterLogin);
}

/** Another process that decides the same week may hold the row of the Master for too long: then nothing was executed, and a retry continues. */
async function readInTime(deps: Deps, masterLogin: string, context: CallContext, through?: bigint): Promise<Reading> {
  const untilMs = performance.now() + remainingMs(withReplyReserve(context));
  try {
    return await readMaster(deps, masterLogin, context, through === undefined ? { untilMs } : { untilMs, through });
  } catch (error) {
    const isBusy = !(error instanceof Refusal) && isTransientFailure(error);
    throw isBusy ? allocationInProgress(masterLogin) : error;
  }
}

/** Built from the stored rows, so that a repetition gets the same answer. */
function answer(
  { investorLogin, masterLogin }: RequestedCrystallisation,
  decided: Crystallisation,
): CrystalliseResponse {
  if (decided.investorLogin !== investorLogin || decided.masterLogin !== masterLogin) {
    throw refuse("validation_failed", "The key was used for another crystallisation.");
  }
  return { pending: moneyToProto(usd(decided.pending)), items: decided.items.map(dueItem) };
}
