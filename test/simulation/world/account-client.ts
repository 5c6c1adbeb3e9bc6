import assert from "node:assert/strict";
import { AccountKind, type AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import type { CallContext, Client } from "../../../services/kernel/contract/contract.ts";
import { accountFake } from "../../../services/subscription/testing/account-fake.ts";

type Accounts = Client<AccountServiceService>;

/** The account service as its clients see it: the role of each login. Each Master has a payment account. */
export function createAccountClient(
  masters: readonly string[],
  investors: readonly string[],
  paymentAccounts: readonly string[],
): Accounts {
  const accounts = accountFake();
  for (const login of masters) accounts.addMaster(login, 0n);
  for (const login of investors) accounts.addInvestor(login);
  const findMaster: Accounts["findMaster"] = async (request, context) => {
    const paymentAccountLogin = paymentAccounts[masters.indexOf(request.login)] ?? "";
    return { ...(await accounts.client.findMaster(request, context)), paymentAccountLogin };
  };
  const findAll = async (context: CallContext) =>
    await Promise.all(masters.map((login) => findMaster({ login }, context)));
  const getMaster: Accounts["getMaster"] = async ({ id }, context) => {
    const found = (await findAll(context)).find((master) => master.id === id);
    assert(found !== undefined, `there is no Master ${id}`);
    return found;
  };
  const findAccounts: Accounts["findAccounts"] = async ({ logins }, context) => {
    const known = await accounts.client.findAccounts({ logins }, context);
    const payees = (await findAll(context)).map(({ id, name, paymentAccountLogin: login }) => {
      return { login, kind: AccountKind.PAYMENT, id, name };
    });
    return { accounts: [...known.accounts, ...payees.filter(({ login }) => logins.includes(login))] };
  };
  return { ...accounts.client, findMaster, getMaster, findAccounts };
}
