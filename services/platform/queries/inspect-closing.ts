import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { InspectClosingRequest, InspectClosingResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import { refuse } from "../refusals.ts";
import { findAccount } from "../store/accounts.ts";
import { hasOpenOperation } from "../store/open-operations.ts";

/** The account may not be shown any more: brokers archive accounts that have not been used for long. */
export async function inspectClosing(
  { pool, mt5 }: Deps,
  { login }: InspectClosingRequest,
): Promise<InspectClosingResponse> {
  const account = await findAccount(pool, login);
  if (account === undefined) throw refuse("login_not_managed", `Account ${login} is not managed by this service.`);
  const user = account.isArchived ? undefined : await orUnavailable(mt5.getUser(login));
  const positions = user === undefined ? [] : await orUnavailable(mt5.readPositions(login));
  return {
    balance: moneyToProto(user === undefined ? account.logBalance : usd(user.balanceMinor)),
    credit: moneyToProto(usd(user?.creditMinor ?? 0n)),
    openPositions: positions.length,
    operationOpen: await hasOpenOperation(pool, login),
  };
}
