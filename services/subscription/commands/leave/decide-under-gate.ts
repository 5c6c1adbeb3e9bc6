import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { checkMaster } from "../../domain/decide-leave.ts";
import { refuse } from "../../refusals.ts";
import { type Gate, lockGate, openGate } from "../../store/gates.ts";
import { type Leave, markRefused, markSettled } from "../../store/leaves.ts";
import { recordedAs } from "../../store/recorded-refusal.ts";
import { catchUp } from "../catch-up.ts";
import { inTimeToAnswer } from "../patience.ts";
import { decideAtPlace } from "./decide-at-place.ts";
import type { GatedLeave } from "./leaving.ts";

const RETRY_AFTER_MS = 500;
/** Others wait at the gate meanwhile; the settling job takes it for abandoned a little later. */
const READ_MS = 3_000;

/**
 * Reads the Master up to what it shows now, fixes that place S of its log as the place of the decision, and decides
 * there. S, or the refusal, is committed before anything else is done with it. Nobody sends to the platform here.
 */
export async function decideUnderGate(deps: Deps, leave: GatedLeave, gate: Gate, context: CallContext): Promise<void> {
  let place: bigint | undefined;
  try {
    place = await findPlace(deps, leave, context);
  } catch (error) {
    if (!(error instanceof Refusal)) deps.log.error("a Master could not be read", { login: leave.masterLogin, error });
    await refuseUnderGate(deps, leave, gate, finalRefusal(error));
    return;
  }
  const settledNumber = place;
  const isSettled = await inTransaction(deps.pool, async (tx) => {
    if (!(await lockGate(tx, gate))) return false;
    await markSettled(tx, leave, settledNumber);
    return true;
  });
  if (isSettled) await decideAtPlace(deps, { ...leave, state: "SETTLED", settledNumber }, gate);
}

/** Without a place nothing has happened: the try is refused and the gate opened, in one commit. */
export async function refuseUnderGate(deps: Deps, leave: Leave, gate: Gate, refusal: Refusal): Promise<void> {
  await inTransaction(deps.pool, async (tx) => {
    if (!(await lockGate(tx, gate))) return;
    // False when its place is fixed already: then the gate stays for whoever finishes it.
    if (await markRefused(tx, { ...leave, state: "GATED" }, recordedAs(refusal), deps.now())) await openGate(tx, gate);
  });
}

export function notReadYet(message: string): Refusal {
  return refuse("allocation_in_progress", message, { outcome: "not_executed", retryAfterMs: RETRY_AFTER_MS });
}

async function findPlace(deps: Deps, { masterLogin: login }: GatedLeave, context: CallContext): Promise<bigint> {
  const inTime = childContext(inTimeToAnswer(context), { withinMs: READ_MS });
  const { complete, positions, logNumber } = await deps.platform.readAccount({ login }, inTime);
  checkMaster({ isComplete: complete, openPositions: positions.length });
  await catchUp(deps, { login, upTo: logNumber }, inTime);
  return logNumber;
}

/** Only these may be told as the end of a try; whatever else went wrong, the Master was not read. */
function finalRefusal(error: unknown): Refusal {
  const isFinal =
    error instanceof Refusal && (error.code === "master_open_positions" || error.code === "allocation_in_progress");
  return isFinal ? error : notReadYet("the Master cannot be read now");
}
