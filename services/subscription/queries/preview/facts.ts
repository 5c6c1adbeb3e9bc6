import { setTimeout as sleep } from "node:timers/promises";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { queryContext, REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import { refusalFromProto } from "#kernel/contract/error.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import type { PreviewHoldRequest } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";

/** The account as a saga would find it when it has the account lock. */
export type AccountFacts = { readonly balance: bigint; readonly logNumber: bigint; readonly openPositions: number };

export type LockPreview = {
  /** Why the account lock would be refused, in the words of platform. */
  readonly refusals: readonly Refusal[];
  /** Undefined while the account cannot be read. */
  readonly facts: AccountFacts | undefined;
};

export async function previewLock(
  { platform }: Deps,
  request: PreviewHoldRequest,
  context: CallContext,
): Promise<LockPreview> {
  try {
    const { refusals, facts } = await platform.previewHold(request, queryContext(context));
    if (facts === undefined) return { refusals: refusals.map(refusalFromProto), facts };
    const { balance, logNumber, openPositions } = facts;
    return {
      refusals: refusals.map(refusalFromProto),
      facts: { balance: moneyFromProto(balance, "balance").minor, logNumber, openPositions },
    };
  } catch (error) {
    if (error instanceof Refusal) return { refusals: [error], facts: undefined };
    throw error;
  }
}

/** How long a preview waits for what a command would wait for too: results that are being allocated, or a movement in progress. */
const MAX_WAIT_MS = 1_500;
const PAUSE_MS = 100;
/** Codes of refusals that may not apply a moment later. */
const TEMPORARY_CODES = new Set(["account_busy", "allocation_in_progress"]);

/** Looks again while the first reason is a temporary one: a command waits for that, and then answers the next one, or none. */
export async function untilPassed<T extends { readonly reasons: readonly Refusal[] }>(
  look: () => Promise<T>,
  context: CallContext,
): Promise<T> {
  const untilMs = performance.now() + Math.min(MAX_WAIT_MS, remainingMs(context) - REPLY_RESERVE_MS);
  for (;;) {
    const seen = await look();
    const [first] = seen.reasons;
    const isPassing = first !== undefined && TEMPORARY_CODES.has(first.code);
    if (!isPassing || performance.now() + PAUSE_MS >= untilMs) return seen;
    await sleep(PAUSE_MS);
  }
}

/** The first reason of each code: a caller branches on the code, and the first one is what the command would answer. */
export function oneOfEachCode(reasons: readonly Refusal[]): Refusal[] {
  return [...new Map(reasons.toReversed().map((reason) => [reason.code, reason])).values()].toReversed();
}
