import { Refusal, type RefusalExtra, type RefusalStatus } from "#kernel/values/refusal.ts";
import { PROBLEMS, type ProblemCode } from "./problems.ts";

/** Of the rest, `invalid`. */
const STATUS_OF: Readonly<Record<number, RefusalStatus>> = {
  401: "forbidden",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  410: "not_found",
  429: "busy",
  500: "internal",
  502: "rejected",
  503: "unavailable",
  504: "unknown_outcome",
};

/** Creates the refusal of the edge itself, before it calls a service; the caller throws it. */
export function refuse(code: ProblemCode, message: string, extra?: RefusalExtra): Refusal {
  return new Refusal({ ...extra, code, status: STATUS_OF[PROBLEMS[code].status] ?? "invalid", message });
}
