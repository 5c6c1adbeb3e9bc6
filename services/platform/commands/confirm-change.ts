import { RETRY_AFTER_MS } from "#kernel/refusal.ts";
import type { CommandOutcome } from "../mt5/classify.ts";
import { refuse } from "../refusals.ts";

type Outcome = { readonly kind: "done" } | CommandOutcome;

/** Refuses unless the platform has confirmed the change of the account: `change` is "disable", for example. */
export function confirmChange(outcome: Outcome, { login, change }: { login: string; change: string }): void {
  switch (outcome.kind) {
    case "done":
      return;
    case "refused":
      throw refuse(
        "platform_rejected",
        `The trading platform refused to ${change} account ${login} with code ${outcome.code}.`,
        { details: { platform_code: String(outcome.code) } },
      );
    case "not_sent":
    case "unknown":
      throw refuse(
        "platform_unavailable",
        `The trading platform did not confirm the request to ${change} the account.`,
        {
          retryAfterMs: RETRY_AFTER_MS,
        },
      );
  }
}
