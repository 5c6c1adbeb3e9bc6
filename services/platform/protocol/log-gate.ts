import type { Log } from "#kernel/process/log.ts";
import type { PermitGate } from "../domain/permit-gate.ts";
import { DATABASE_BEHIND } from "../domain/review-actions.ts";

/** Each process logs a change once, and a stop that it finds when it starts: nothing else in its log says why commands are refused. */
export function logGate(log: Log, before: PermitGate | undefined, found: PermitGate): void {
  if (found === "stopped" && before !== "stopped") {
    log.error("sending stopped, because the database has lost movements of the platform, manual review required", {
      reason: DATABASE_BEHIND,
    });
  }
  if (found === "open" && before === "stopped") log.info("sending resumed, operators have decided");
}
