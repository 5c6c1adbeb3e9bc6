import assert from "node:assert/strict";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type {
  CrystalliseRequest,
  CrystalliseResponse,
  PrepareRequest,
  PrepareResponse,
} from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import type { Crystallisation } from "../store/crystallisations.ts";
import { findMaster } from "../store/masters.ts";
import { dueItem } from "../messages/due-item.ts";
import type { RequestedCrystallisation } from "../processes/accounting/crystallise-together.ts";
import { readMaster } from "../processes/accounting/read-master.ts";

/** Reads a Master's allocations in advance, so that the crystallisation that follows has little left to read. */
export async function prepare(
  deps: Deps,
  { masterLogin }: PrepareRequest,
  context: CallContext,
): Promise<PrepareResponse> {
  await readMaster(deps, masterLogin, context);
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
  const { queues } = deps;
  const requested = requestedOf(request);
  const known = await queues.crystallisations(requested.key);
  if (known !== undefined) return answer(requested, known);
  await readThrough(deps, requested, context);
  await queues.crystallising.add(requested, performance.now() + remainingMs(context));
  const decided = await queues.crystallisations(requested.key);
  assert(decided !== undefined, "a decided crystallisation is recorded");
  return answer(requested, decided);
}

function requestedOf(request: CrystalliseRequest): RequestedCrystallisation {
  const { key, investorLogin, subscriptionId, throughNumber, suffix, periodStart, at } = request;
  if (at === undefined || key === "" || suffix === "") {
    throw refuse("validation_failed", "A crystallisation requires a key, an instant and a suffix.");
  }
  const masterLogin = request.masterLogin === "" ? undefined : request.masterLogin;
  return { key, investorLogin, masterLogin, subscriptionId, throughNumber, suffix, periodStart, at };
}

/** Reads the allocations up to that entry, which decides all weeks closed before it, for all Investors of the pool. */
async function readThrough(
  deps: Deps,
  { masterLogin, throughNumber: through }: RequestedCrystallisation,
  context: CallContext,
): Promise<void> {
  if (masterLogin === undefined) return;
  const master = await findMaster(deps.pool, masterLogin);
  if (master !== undefined && master.read.number >= through) return;
  const { number } = await readMaster(deps, masterLogin, context);
  assert(number >= through, `allocations of ${masterLogin} end with ${number}, before ${through}`);
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
