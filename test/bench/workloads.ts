import type { Workload } from "./bench.ts";
import { allocate } from "./workloads/allocate.ts";
import { checks } from "./workloads/checks.ts";
import { constants } from "./workloads/constants.ts";
import { deposit } from "./workloads/deposit.ts";
import { directories } from "./workloads/directories.ts";
import { exits } from "./workloads/exits.ts";
import { growth } from "./workloads/growth.ts";
import { idle } from "./workloads/idle.ts";
import { latency } from "./workloads/latency.ts";
import { limit } from "./workloads/limit.ts";
import { mirror } from "./workloads/mirror.ts";
import { peers } from "./workloads/peers.ts";
import { reads } from "./workloads/reads.ts";
import { replicas } from "./workloads/replicas.ts";
import { soak } from "./workloads/soak.ts";
import { start } from "./workloads/start.ts";
import { weekly } from "./workloads/weekly.ts";
import { withdraw } from "./workloads/withdraw.ts";

/** All parts, in the order of the document. */
export const WORKLOADS: readonly Workload[] = [
  deposit,
  limit,
  peers,
  latency,
  withdraw,
  reads,
  growth,
  directories,
  allocate,
  mirror,
  exits,
  weekly,
  replicas,
  constants,
  idle,
  checks,
  start,
  soak,
];
