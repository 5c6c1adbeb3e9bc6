import type {
  DisableAccountRequest,
  DisableAccountResponse,
  EraseAccountRequest,
  EraseAccountResponse,
} from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { confirmChange, tradingBeingReturned } from "../protocol/change-account.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import { noteShown } from "../protocol/unshown-accounts.ts";
import { notManaged, refuse } from "../refusals.ts";
import { findAccount } from "../store/accounts.ts";
import { forgetTaken } from "../store/taken-rights.ts";

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

/** `account` has decided that the Investor may be erased, and has recorded it: what happened on the account since does not matter. */
export async function eraseAccount(deps: Deps, { login }: EraseAccountRequest): Promise<EraseAccountResponse> {
  const { pool, mt5 } = deps;
  const account = await findAccount(pool, login);
  if (account?.role !== "investor") {
    throw refuse("login_not_managed", `Account ${login} is not managed by this service as an Investor.`);
  }
  // Another person may have its login.
  if (account.isUnshown && (await orUnavailable(mt5.getUser(login))) !== undefined && !(await noteShown(deps, login))) {
    return { shown: false };
  }
  // An erased account never trades again. Its erasure is repeated until it is confirmed.
  if (!(await forgetTaken(pool, login))) throw tradingBeingReturned(login);
  return { shown: await confirmChange(mt5.eraseUser(login), { login, change: "erase" }) };
}
