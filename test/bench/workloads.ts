import type { Workload } from "./bench.ts";
import { deposit } from "./workloads/deposit.ts";
import { limit } from "./workloads/limit.ts";
import { peers } from "./workloads/peers.ts";
import { reads } from "./workloads/reads.ts";

/** All parts, in the order of the document. */
export const WORKLOADS: readonly Workload[] = [deposit, limit, peers, reads];
