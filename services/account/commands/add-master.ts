import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { labelErrors } from "#kernel/labels.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { AddMasterRequest, Master as MasterMessage } from "#proto/pamm/account/v1/account.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import type { Deps } from "../deps.ts";
import { registerMaster } from "../directory-changes.ts";
import { countInvestorsOf, masterMessage } from "../directory.ts";
import { decideExistence, decideRole } from "../domain/decide-registration.ts";
import { findMasterByCommand } from "../store/masters.ts";
import { requireFreeExternalId } from "../processes/profile.ts";
import { registerOnce, registrationFacts } from "../processes/register.ts";
import {
  checkAll,
  linesError,
  loginError,
  minDepositError,
  nameError,
  paymentEqualsMaster,
  textError,
} from "../domain/checks.ts";

/** Registers two existing accounts as a Master. platform takes both under management before the Master is inserted. */
export async function addMaster(deps: Deps, request: AddMasterRequest, context: CallContext): Promise<MasterMessage> {
  const { login, paymentAccountLogin: paymentLogin, name = login, strategyName, strategy, labels } = request;
  const { minor: minDeposit } = moneyFromProto(request.minDeposit, "min_deposit");
  checkAll(
    loginError("mt5_login", login),
    loginError("payment_account_login", paymentLogin),
    nameError("name", name),
    textError("strategy_name", strategyName),
    linesError("strategy", strategy),
    minDepositError(minDeposit),
    ...labelErrors(labels),
  );
  if (login === paymentLogin) {
    throw paymentEqualsMaster(login);
  }
  const { commandId } = context;
  const register = async (): Promise<MasterMessage> => {
    await decide(deps, login, paymentLogin, context);
    await requireFreeExternalId(deps.pool, "MASTER", labels);
    // First the account with open positions would be refused.
    await deps.platform.adoptAccount({ login: paymentLogin, role: AccountRole.PAYMENT }, context);
    await deps.platform.adoptAccount({ login, role: AccountRole.MASTER }, context);
    const [texts, profile] = [
      { name, strategyName, strategy },
      { email: undefined, labels },
    ];
    const master = { login, paymentLogin, ...texts, minDeposit, createdAt: deps.now(), commandId, profile };
    return masterMessage(await inTransaction(deps.pool, (tx) => registerMaster(tx, master)), 0n);
  };
  const find = async (): Promise<MasterMessage | undefined> => {
    const master = await findMasterByCommand(deps.pool, commandId);
    return master && masterMessage(master, await countInvestorsOf(deps, master.login, context));
  };
  return await registerOnce({ find, register });
}

async function decide(deps: Deps, login: string, paymentLogin: string, context: CallContext): Promise<void> {
  const named = [
    { field: "mt5_login", login },
    { field: "payment_account_login", login: paymentLogin },
  ];
  const facts = await registrationFacts(deps, named, context);
  const [trading, payment] = facts;
  if (trading !== undefined) decideRole(trading, "MASTER");
  if (payment !== undefined) decideRole(payment, "PAYMENT");
  decideExistence(facts);
}
