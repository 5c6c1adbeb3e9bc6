import { type Refusal, RESTART_RETRY_AFTER_MS } from "#kernel/values/refusal.ts";
import { refuse } from "../refusals.ts";

/**
 * Permits are granted while the gate is `open`. `reading`: the platform's history has to be read first, because the database may lack
 * commits. `stopped`: the history has deals of ours that the database does not know, and operators have to decide.
 */
export type PermitGate = "open" | "reading" | "stopped";

/** The answer to an order whose caller waits, while the gate is closed; undefined while it is open. */
export function refusalOfGate(gate: PermitGate): Refusal | undefined {
  switch (gate) {
    case "open":
      return undefined;
    case "reading":
      return refuse(
        "platform_unavailable",
        "The history of the trading platform is being read after a restart of the database. Nothing was executed.",
        { outcome: "not_executed", retryAfterMs: RESTART_RETRY_AFTER_MS },
      );
    case "stopped":
      return refuse(
        "safety_stop",
        "The trading platform has movements that the database lost. Nothing is executed until two operators have decided.",
        { outcome: "not_executed" },
      );
  }
}
