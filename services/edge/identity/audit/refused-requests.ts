import { Counter } from "prom-client";
import type { Clock } from "#kernel/clock.ts";
import { limitedNetwork } from "../keys/addresses.ts";
import { createBuckets } from "../../http/rate-limit.ts";

/** Entries of one address or IPv6 network: enough to see what it tried. */
const OF_ADDRESS = { perSecond: 1, burst: 100 };
/** Entries of all addresses: an attack from many fills no disk. */
const OF_ALL = { perSecond: 10, burst: 1_000 };
const ALL = "all";

const leftOut = new Counter({
  name: "pamm_audit_refusals_left_out_total",
  help: "Refused requests (401, 403, 429) that are not in the access audit, because their address or all addresses made too many.",
});

/** Whether a refused request is to be recorded. The number of records is bounded; pamm_http_problems_total counts all of them. */
export function refusedRequests(now: Clock): (address: string) => boolean {
  const ofAddress = createBuckets(OF_ADDRESS, now);
  const ofAll = createBuckets(OF_ALL, now);
  return (address) => {
    const isRecorded = ofAddress.take(limitedNetwork(address)) === undefined && ofAll.take(ALL) === undefined;
    if (!isRecorded) leftOut.inc();
    return isRecorded;
  };
}
