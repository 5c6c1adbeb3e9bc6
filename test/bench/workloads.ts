import type { Workload } from "./bench.ts";
import { deposit } from "./workloads/deposit.ts";

/** All parts, in the order of the document. */
export const WORKLOADS: readonly Workload[] = [deposit];
