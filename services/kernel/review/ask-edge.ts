import { VoteServiceService } from "#proto/pamm/common/v1/votes.ts";
import type { Broker } from "../nats/connect.ts";
import { natsClient } from "../nats/client.ts";
import type { VotesDeps } from "./check-votes.ts";

/** Asks the edge over the broker, because it is in no certificate: only its user may receive these requests there. */
export function askEdge(broker: Broker, caller: string): VotesDeps["confirm"] {
  const edge = natsClient(broker, { service: "edge", contract: VoteServiceService, caller });
  return async (votes, context) => (await edge.confirmVotes({ votes: [...votes] }, context)).votes;
}
