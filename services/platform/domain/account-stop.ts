import type { Refusal } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

/** The answer to an order on a stopped account whose caller waits, and to a request for its account lock. */
export function accountStopped(login: string): Refusal {
  return refuse(
    "safety_stop",
    `Account ${login} is stopped: money moved on it that no service requested, a decision lacks its votes, its group is not in USD with two digits, or its login has another account now. Nothing is executed until two operators have decided.`,
    { outcome: "not_executed", details: { login } },
  );
}
