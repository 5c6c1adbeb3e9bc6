import type { EraseAccountRequest, EraseAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { findAccount } from "../store/accounts.ts";
import { confirmChange } from "./confirm-change.ts";

/** `account` has decided that the Investor may be erased, and has recorded it: what happened on the account since does not matter. */
export async function eraseAccount({ pool, mt5 }: Deps, { login }: EraseAccountRequest): Promise<EraseAccountResponse> {
  const account = await findAccount(pool, login);
  if (account?.role !== "investor") {
    throw refuse("login_not_managed", `Account ${login} is not managed by this service as an Investor.`);
  }
  return { shown: await confirmChange(mt5.eraseUser(login), { login, change: "erase" }) };
}
