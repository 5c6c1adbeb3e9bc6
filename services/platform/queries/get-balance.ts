import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { GetBalanceRequest, GetBalanceResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import { refuse } from "../refusals.ts";
import { findAccount } from "../store/accounts.ts";

/** Refuses logins that this service does not manage: the platform shows its manager many others. */
export async function getBalance({ pool, mt5 }: Deps, { login }: GetBalanceRequest): Promise<GetBalanceResponse> {
  if ((await findAccount(pool, login)) === undefined) {
    throw refuse("login_not_managed", `Account ${login} is not managed by this service.`);
  }
  const user = await orUnavailable(mt5.getUser(login));
  if (user === undefined) {
    throw refuse("platform_account_not_found", `The trading platform does not show account ${login}.`);
  }
  return { balance: moneyToProto(usd(user.balanceMinor)) };
}
