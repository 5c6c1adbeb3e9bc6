import { OUTCOME_WAITED_FOR, waitsForNoCommand, waitsForOutcome } from "#catalogue/busy-account.ts";
import { type Refusal } from "#kernel/values/refusal.ts";
import { refuse } from "../refusals.ts";

export function accountBusy(message: string): Refusal {
  return refuse("account_busy", message, { outcome: "not_executed" });
}

export function platformUnavailable(message: string): Refusal {
  return refuse("platform_unavailable", message, { outcome: "not_executed" });
}

/** Nothing is moved to a Master that the trading platform does not show. */
export function masterArchived(login: string): Refusal {
  return refuse(
    "account_archived",
    `The trading platform does not show the account of Master ${login} any more: the broker has archived or deleted it. Nothing was executed. It ends by itself when the broker restores the account.`,
    { outcome: "not_executed", details: { mt5_login: login } },
  );
}

/** What a caller is answered when platform has refused an account lock, or a read under it. */
export function refusalOfLock({ code, message, details, operationId }: Refusal): Refusal {
  if (code === "account_busy" && waitsForOutcome({ details })) {
    return refuse(code, OUTCOME_WAITED_FOR.message, OUTCOME_WAITED_FOR.extra);
  }
  const waited = waitsForNoCommand({ details });
  if (code === "account_busy" && waited !== undefined) return accountBusy(waited);
  switch (code) {
    case "account_busy":
    // The recovery job has released this lock owner, so the saga was aborted.
    case "lock_not_owned":
      return accountBusy(
        "Another operation of this Investor is in progress, and this one waited for its end as long as it may. Nothing was executed. Send the request again in a second.",
      );
    case "possible_duplicate":
      return refuse(code, message, { outcome: "not_executed", details, operationId });
    case "platform_rejected":
      return refuse(code, `${message} Nothing was executed.`, { outcome: "not_executed", details });
    case "account_archived":
      return refuse(code, message, { outcome: "not_executed", details });
    case "safety_stop":
      return refuse("safety_stop", message, { outcome: "not_executed" });
    default:
      return platformUnavailable("The trading platform cannot be reached. Nothing was executed.");
  }
}
