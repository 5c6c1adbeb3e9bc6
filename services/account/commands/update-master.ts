import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Master as MasterMessage, UpdateMasterRequest } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { changeMaster } from "../directory-changes.ts";
import { checkAll, linesError, loginError, minDepositError, nameError, textError } from "../domain/checks.ts";
import { changePaymentAccount } from "../processes/change-payment-account.ts";
import { changeProfile } from "../processes/profile.ts";
import { findMasterById } from "../store/masters.ts";
import { decideChange, type Master, type MasterChange } from "../domain/master.ts";
import { hasAccountUpdate, insertAccountUpdate } from "../store/accounts.ts";
import { countInvestorsOf, findClosing, getMasterById, masterMessage, stateOf } from "../directory.ts";

/** Changes the name, the texts, the conditions of later assignments, and where later fees are paid. Moves no funds. */
export async function updateMaster(
  deps: Deps,
  request: UpdateMasterRequest,
  context: CallContext,
): Promise<MasterMessage> {
  const { id, name, strategyName, strategy, acceptingInvestors, paymentAccountLogin: paymentLogin, labels } = request;
  const minDeposit = request.minDeposit && moneyFromProto(request.minDeposit, "min_deposit").minor;
  const change: MasterChange = { name, strategyName, strategy, minDeposit, acceptingInvestors };
  checkAll(
    nameError("name", name),
    textError("strategy_name", strategyName),
    linesError("strategy", strategy),
    minDepositError(minDeposit),
    paymentLogin === undefined ? undefined : loginError("payment_account_login", paymentLogin),
    Object.values({ ...change, paymentLogin, labels }).every((value) => value === undefined)
      ? NOTHING_TO_CHANGE
      : undefined,
  );
  // Counted before the change: a failure afterwards would hide from the caller that the change was made.
  const master = await getMasterById(deps, id);
  const { login } = master;
  const investorsCount = await countInvestorsOf(deps, login, context);
  // A repeated command may have been executed before the Master was closed.
  if (!(await hasAccountUpdate(deps.pool, context.commandId))) {
    decideChange(login, change, stateOf(await findClosing(deps, login, context)));
    // First, because it may be refused: then nothing is changed.
    if (paymentLogin !== undefined) await changePaymentAccount(deps, master, paymentLogin, context);
  }
  const changed = await changeOnce(deps, { id, login, change, labels }, context.commandId);
  return masterMessage(changed, investorsCount);
}

type Change = Pick<UpdateMasterRequest, "id" | "labels"> & { readonly login: string; readonly change: MasterChange };

/** A repeated command changes nothing: a later command may have changed the same fields. */
async function changeOnce(
  { pool, now }: Deps,
  { id, login, change, labels }: Change,
  commandId: string,
): Promise<Master> {
  const master = await inTransaction(pool, async (tx) => {
    const at = now();
    const isNew = commandId === "" || (await insertAccountUpdate(tx, commandId, at));
    if (isNew) await changeProfile(tx, { kind: "MASTER", login }, { labels });
    return isNew ? await changeMaster(tx, id, change, at) : await findMasterById(tx, id);
  });
  assert(master !== undefined, "a Master is never deleted");
  return master;
}

const NOTHING_TO_CHANGE = {
  field: "",
  code: "nothing_to_change",
  message:
    "At least one of name, strategy_name, strategy, min_deposit, accepting_investors, payment_account_login, external_id and metadata is required.",
};
