import type { Transport } from "../metrics.ts";
import { Refusal, type RefusalStatus } from "../refusal.ts";
import type { Method } from "./contract.ts";

/** Caller and callee have spans of one name, `pamm.funding.v1.FundingService/Deposit`. */
export function rpcName({ path }: Method): string {
  return path.slice(1);
}

export function rpcAttributes({ service, rpc }: Method, transport: Transport): Record<string, string> {
  return { "rpc.system": transport, "rpc.service": service, "rpc.method": rpc };
}

/** Statuses with which a service reports that it could not do its work; the others are expected answers. */
const FAILURES: ReadonlySet<RefusalStatus> = new Set(["internal", "unknown_outcome", "unavailable", "busy"]);

export function failureOf(error: unknown): { readonly outcome: string; readonly hasFailed: boolean } {
  if (!(error instanceof Refusal)) return { outcome: "internal", hasFailed: true };
  return { outcome: error.code, hasFailed: FAILURES.has(error.status) };
}
