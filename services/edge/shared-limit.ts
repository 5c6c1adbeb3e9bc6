import { limit } from "#kernel/contract/limit.ts";
import { RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { refuse } from "./problems/refusals.ts";

/** Of all, for one client: the others keep the rest. */
const CLIENT_SHARE = 0.75;

export type SharedLimit = {
  /** Returns the function that leaves. Refusals: service_unavailable, and rate_limited for a client that has its share. */
  readonly enter: (clientId: string) => () => void;
};

/** Slots that clients share. `what` continues "as many requests". */
export function sharedLimit(max: number, what: string): SharedLimit {
  const all = limit(max);
  const ofClient = new Map<string, number>();
  const maxOfClient = Math.max(1, Math.floor(max * CLIENT_SHARE));
  return {
    enter(clientId) {
      if (!all.tryEnter()) throw full("service_unavailable", "The server has", what);
      const own = ofClient.get(clientId) ?? 0;
      if (own >= maxOfClient) {
        all.leave();
        throw full("rate_limited", "This client has", what);
      }
      ofClient.set(clientId, own + 1);
      return () => {
        all.leave();
        ofClient.set(clientId, (ofClient.get(clientId) ?? 0) - 1);
      };
    },
  };
}

function full(code: "rate_limited" | "service_unavailable", has: string, what: string) {
  const message = `${has} as many requests ${what} as it may have at the same time. Nothing was executed. Send the request again in a second.`;
  return refuse(code, message, { retryAfterMs: RETRY_AFTER_MS });
}
