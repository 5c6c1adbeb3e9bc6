import type { Refusal } from "#kernel/values/refusal.ts";
import { refuse } from "../refusals.ts";

/** No fee of the Master is decided or sent until the manual review of a break of its fees or of its payment account is decided. */
export function safetyStop(login: string): Refusal {
  const message = `Performance fees of Master ${login} are suspended pending manual review of a reconciliation break.`;
  return refuse("safety_stop", message, { outcome: "not_executed", details: { login } });
}
