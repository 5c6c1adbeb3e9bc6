import { BROKER_CALLER } from "#catalogue/services.ts";
import type { Permissions } from "#kernel/contract/contract.ts";
import type { VoteServiceService } from "#proto/pamm/common/v1/votes.ts";

/** The edge is called over the broker only, which lets the services with reviews send these requests and does not name the sender. */
export const PERMISSIONS: Permissions<typeof VoteServiceService> = {
  confirmVotes: [BROKER_CALLER],
};
