import { callContext } from "#kernel/contract/context.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../deps.ts";
import { listCashflowsById } from "../store/cashflows.ts";
import { listAwaitedMasters, markReady, startTries } from "../store/queued-withdrawals.ts";
import { settle } from "./settle-cashflows.ts";

/** Tries at the same time: those of one Master are decided together. */
const BATCH = 16;
/** Masters of one question; all of them are asked about in each run. */
const MASTERS_PER_CALL = 1_000;
const ASK_MS = 3_000;

/**
 * Tries withdrawals whose Masters are flat. One call asks for all Masters, however many withdrawals wait for them. Whether a Master is flat is only a hint: the
 * try decides everything anew, as a withdrawal that is requested now. True when more may be due.
 */
export async function runQueued(deps: Deps): Promise<boolean> {
  const flat = await listFlat(deps);
  if (flat === undefined) return false;
  await markReady(deps.pool, flat);
  const started = await startTries(deps.pool, BATCH);
  if (started.length > 0) failpoint("after_queue_start", "withdraw");
  const tries = new Map(started.map((row) => [row.id, row.tries]));
  const cashflows = started.length === 0 ? [] : await listCashflowsById(deps.pool, [...tries.keys()]);
  await Promise.all(cashflows.map((cashflow) => settle(deps, cashflow, tries.get(cashflow.id) ?? 0)));
  return started.length === BATCH;
}

/** The flat ones of the Masters for which withdrawals wait; undefined while the subscription service does not answer. */
async function listFlat({ pool, subscriptions, log }: Deps): Promise<string[] | undefined> {
  const flat: string[] = [];
  for (let after = ""; ;) {
    const masterLogins = await listAwaitedMasters(pool, after, MASTERS_PER_CALL);
    if (masterLogins.length === 0) return flat;
    try {
      const context = callContext({ caller: "funding", withinMs: ASK_MS });
      const answer = await subscriptions.listFlatMasters({ masterLogins }, context);
      flat.push(...answer.masterLogins);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      log.info("flat Masters not read, queued withdrawals wait on", { error });
      return undefined;
    }
    after = masterLogins.at(-1) ?? after;
  }
}
