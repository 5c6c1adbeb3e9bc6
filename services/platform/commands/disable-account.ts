import { RETRY_AFTER_MS } from "#kernel/refusal.ts";
import type { DisableAccountRequest, DisableAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import { refuse } from "../refusals.ts";
import { findAccount } from "../store/accounts.ts";

/** Removes the rights to connect and to trade. Money can still be moved, so that an account can be emptied. */
export async function disableAccount(deps: Deps, { login }: DisableAccountRequest): Promise<DisableAccountResponse> {
  if ((await findAccount(deps.pool, login)) === undefined) {
    throw refuse("login_not_managed", `Account ${login} is not managed by this service.`);
  }
  const outcome = await orUnavailable(deps.mt5.disableUser(login));
  if (outcome === undefined) {
    throw refuse("platform_account_not_found", `The trading platform does not show account ${login}.`);
  }
  switch (outcome.kind) {
    case "done":
      return {};
    case "refused":
      throw refuse(
        "platform_rejected",
        `The trading platform refused to disable account ${login} with code ${outcome.code}.`,
        {
          details: { platform_code: String(outcome.code) },
        },
      );
    case "not_sent":
    case "unknown":
      throw refuse("platform_unavailable", "The trading platform did not confirm that the account is disabled.", {
        retryAfterMs: RETRY_AFTER_MS,
      });
  }
}
