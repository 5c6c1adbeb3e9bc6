import type { VotesDeps } from "../review/check-votes.ts";

/** For checks of a service without reviews: the edge is not asked. */
export const confirmsNothing: VotesDeps["confirm"] = () => Promise.reject(new Error("unexpected call"));
