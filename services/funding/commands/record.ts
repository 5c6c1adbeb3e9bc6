import assert from "node:assert/strict";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { Deps } from "../deps.ts";
import type { Cashflow } from "../domain/cashflow.ts";
import { getCashflowById } from "../store/cashflows.ts";
import { markRepeated } from "../store/cashflow-transitions.ts";
import { askFacts } from "./ask-facts.ts";
import type { Draft, Recorded } from "./record-cashflows.ts";

/**
 * Records an operation with the others that wait, or finds the one with its id; that is marked as repeated, so that no request concludes alone that
 * nothing was sent. Refusal: investor_not_found, and those of duplicates.
 */
export async function record(deps: Deps, draft: Draft, context: CallContext): Promise<Cashflow> {
  const { cashflow, isNew } = await insertOrFind(deps, draft, context);
  if (isNew) return cashflow;
  await markRepeated(deps.pool, [cashflow.id]);
  return await getCashflowById(deps.pool, cashflow.id);
}

async function insertOrFind(deps: Deps, draft: Draft, context: CallContext): Promise<Recorded> {
  const byMs = performance.now() + remainingMs(context);
  const { result } = await deps.queues.recording.add(draft, byMs);
  if (result !== "unknown_investor") return result;
  const asked = await askFacts(deps, draft.login, context);
  const again = await deps.queues.recording.add({ ...draft, asked }, byMs);
  assert(again.result !== "unknown_investor", `The facts about Investor ${draft.login} are known.`);
  return again.result;
}
