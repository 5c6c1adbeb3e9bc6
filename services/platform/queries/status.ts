import { later } from "#kernel/jobs/retry.ts";
import { type GetStatusResponse, type GetPermitsResponse, PermitState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { listResumeBlocks } from "../protocol/reviews/resume-all.ts";
import { countImports } from "../store/recovery.ts";
import { findGateFacts } from "../store/permit-gate.ts";

/** Answered from the state of the sessions, without a request to the platform. */
export function getStatus({ mt5 }: Deps): Promise<GetStatusResponse> {
  const { reachable, sessions, lastError } = mt5.status();
  return Promise.resolve({ reachable, sessions, reason: reachable ? "" : (lastError ?? "no session is open yet") });
}

/** Whether commands are sent to the platform. While operators have to decide: what was imported, and what they wait for. */
export async function getPermits({
  pool,
  settings: { quietPeriodMs },
}: Pick<Deps, "pool" | "settings">): Promise<GetPermitsResponse> {
  const facts = await findGateFacts(pool, quietPeriodMs);
  const { stoppedAt, isHistoryRead, wasQuiet, wasQuietLong, generation } = facts;
  if (stoppedAt === undefined) {
    const state = isHistoryRead ? PermitState.GRANTED : PermitState.READING;
    return {
      state,
      stoppedAt,
      resumableFrom: undefined,
      blocking: [],
      imports: undefined,
      generation,
      importComplete: false,
    };
  }
  const [blocking, imports] = await Promise.all([
    listResumeBlocks(pool, facts, quietPeriodMs),
    countImports(pool, stoppedAt),
  ]);
  return {
    state: PermitState.STOPPED,
    stoppedAt,
    resumableFrom: later(stoppedAt, quietPeriodMs),
    blocking,
    imports,
    generation,
    importComplete: isHistoryRead && wasQuiet && (imports.accountsToRead === 0 || wasQuietLong),
  };
}
