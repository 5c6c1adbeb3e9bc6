import type { DisableAccountRequest, DisableAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import { refuse } from "../refusals.ts";
import { findAccount } from "../store/accounts.ts";

/** Takes away the right to connect and to trade. Money can still be moved, so that an account can be emptied. */
export async function disableAccount(deps: Deps, { login }: DisableAccountRequest): Promise<DisableAccountResponse> {
  if ((await findAccount(deps.pool, login)) === undefined) {
    throw refuse("login_not_managed", `${login} is not managed by this service`);
  }
  const outcome = await orUnavailable(deps.mt5.disableUser(login));
  if (outcome === undefined) throw refuse("platform_account_not_found", `the platform shows no account ${login}`);
  switch (outcome.kind) {
    case "done":
      return {};
    case "refused":
      throw refuse("platform_rejected", "the trading platform refused to disable the account", {
        details: { platform_code: String(outcome.code) },
      });
    case "not_sent":
    case "unknown":
      throw refuse("platform_unavailable", "the trading platform did not confirm", { retryAfterMs: 1_000 });
  }
}
