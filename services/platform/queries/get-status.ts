import type { GetStatusResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";

/** Answered from the state of the sessions, without a request to the platform. */
export function getStatus({ mt5 }: Deps): Promise<GetStatusResponse> {
  const { reachable, sessions, lastError } = mt5.status();
  return Promise.resolve({ reachable, sessions, reason: reachable ? "" : (lastError ?? "no session is open yet") });
}
