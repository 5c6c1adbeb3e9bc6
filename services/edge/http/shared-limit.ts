import { limit } from "#kernel/contract/limit.ts";
import { refuse } from "../problems/refusals.ts";

/** Of all, for one client: the others keep the rest. */
const CLIENT_SHARE = 0.75;

/** Slots that clients share. `what` continues "as many requests". */
export function sharedLimit(max: number, what: string) {
  const all = limit(max);
  const ofClient = new Map<string, number>();
  const maxOfClient = Math.max(1, Math.floor(max * CLIENT_SHARE));
  return {
    /** Returns the function that leaves. Refusals: service_unavailable, and rate_limited for a client that has its share. */
    enter(clientId: string): () => void {
      if (!all.tryEnter()) throw refuse("service_unavailable", `Too many requests ${what}.`);
      const own = ofClient.get(clientId) ?? 0;
      if (own >= maxOfClient) {
        all.leave();
        throw refuse(
          "rate_limited",
          `This client has as many requests ${what} as it may have at the same time. This request was not executed. Send it again in a second.`,
        );
      }
      ofClient.set(clientId, own + 1);
      return () => {
        all.leave();
        const others = (ofClient.get(clientId) ?? 0) - 1;
        if (others > 0) ofClient.set(clientId, others);
        else ofClient.delete(clientId);
      };
    },
  };
}
