import type { Refusal } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

/** The answer to an order on an account that the broker has archived or deleted, and to a request for its account lock. */
export function accountArchived(login: string): Refusal {
  return refuse(
    "account_archived",
    `The trading platform does not show account ${login} any more: the broker has archived or deleted it. Nothing was executed. It ends by itself when the broker restores the account.`,
    { outcome: "not_executed", details: { mt5_login: login } },
  );
}
