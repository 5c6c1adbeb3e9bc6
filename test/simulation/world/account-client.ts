import type { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import type { Client } from "../../../services/kernel/contract/contract.ts";
import { accountFake } from "../../../services/subscription/testing/account-fake.ts";

type Accounts = Client<AccountServiceService>;

/** The account service as its clients see it: the role of each login. */
export function createAccountClient(
  masters: readonly string[],
  investors: readonly string[],
  paymentAccountLogin: string,
): Accounts {
  const accounts = accountFake();
  for (const login of masters) accounts.addMaster(login, 0n);
  for (const login of investors) accounts.addInvestor(login);
  const findMaster: Accounts["findMaster"] = async (request, context) => {
    return { ...(await accounts.client.findMaster(request, context)), paymentAccountLogin };
  };
  return { ...accounts.client, findMaster };
}
