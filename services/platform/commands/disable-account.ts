import type { DisableAccountRequest, DisableAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { notManaged, refuse } from "../refusals.ts";
import { findAccount } from "../store/accounts.ts";
import { confirmChange } from "../protocol/change-account.ts";

/** Removes the rights to connect and to trade. Money can still be moved, so that an account can be emptied. */
export async function disableAccount(deps: Deps, { login }: DisableAccountRequest): Promise<DisableAccountResponse> {
  if ((await findAccount(deps.pool, login)) === undefined) {
    throw notManaged(login);
  }
  if (!(await confirmChange(deps.mt5.disableUser(login), { login, change: "disable" }))) {
    throw refuse("platform_account_not_found", `The trading platform does not show account ${login}.`);
  }
  return {};
}
