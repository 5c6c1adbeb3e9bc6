import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { Refusal, RETRY_AFTER_MS } from "#kernel/refusal.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { findFiledNumber } from "../store/filed-numbers.ts";
import { catchUp } from "./filing/catch-up.ts";

export type Lane = { readonly login: string; readonly holder: string };

/** Balance, positions and place in the log of a login whose lane is held: one fact, and filed exactly up to there. */
export type LaneFacts = {
  readonly balance: bigint;
  readonly logNumber: bigint;
  readonly logEntryId: bigint;
  readonly openPositions: number;
};

/** Dealers may move money on a held login too; so often in a row is no accident any more. */
const MOST_READS = 5;

/** Takes the lane and reads what is under it until the ledger stands at exactly that place of the log. */
export async function holdLane(deps: Deps, lane: Lane, context: CallContext): Promise<LaneFacts> {
  for (let reads = 1; reads <= MOST_READS; reads += 1) {
    const held = await ask(() => deps.platform.hold(lane, withReplyReserve(context)));
    const { logNumber, logEntryId, openPositions } = held;
    await ask(() => catchUp(deps, { login: lane.login, upTo: logNumber }, withReplyReserve(context)));
    if ((await findFiledNumber(deps.pool, lane.login)) === logNumber) {
      return { balance: moneyFromProto(held.balance, "balance").minor, logNumber, logEntryId, openPositions };
    }
  }
  throw accountBusy("The account keeps changing. Retry shortly.");
}

/** Until it has succeeded the row of the story keeps the holder, and the settling job tries again. */
export async function releaseLane(deps: Deps, lane: Lane, context: CallContext): Promise<boolean> {
  try {
    await deps.platform.release(lane, context);
    return true;
  } catch (error) {
    deps.log.warn("a lane is released later", { login: lane.login, key: lane.holder, error });
    return false;
  }
}

export function accountBusy(message: string): Refusal {
  return refuse("account_busy", message, { outcome: "not_executed", retryAfterMs: RETRY_AFTER_MS });
}

export function platformUnavailable(message: string): Refusal {
  return refuse("platform_unavailable", message, { outcome: "not_executed", retryAfterMs: RETRY_AFTER_MS });
}

/** Nothing of money was asked for here, so whatever goes wrong has surely moved nothing. */
async function ask<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // Also no_lane: somebody has released this holder, so the story was given up.
    if (error.code === "account_busy" || error.code === "no_lane") {
      throw accountBusy("Another operation of this Investor is in progress. Retry shortly.");
    }
    throw platformUnavailable("The trading platform cannot be reached. Nothing was executed.");
  }
}
