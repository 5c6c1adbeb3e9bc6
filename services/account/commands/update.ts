import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type {
  InvestorProfile,
  Master as MasterMessage,
  UpdateInvestorRequest,
  UpdateMasterRequest,
} from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { changeMaster } from "../directory-changes.ts";
import { countInvestorsOf, findClosing, getInvestorById, getMasterById, masterMessage, stateOf } from "../directory.ts";
import {
  checkAll,
  emailError,
  linesError,
  loginError,
  minDepositError,
  nameError,
  textError,
} from "../domain/checks.ts";
import { decideChange, type MasterChange } from "../domain/master.ts";
import { changePaymentAccount } from "../processes/change-payment-account.ts";
import { changeProfile } from "../processes/profile.ts";
import { refuse } from "../refusals.ts";
import { hasAccountUpdate, insertAccountUpdate } from "../store/accounts.ts";
import { findErasure } from "../store/erasures.ts";
import { lockAgainstErasure, renameInvestor } from "../store/investors.ts";
import { getProfile } from "../store/profiles.ts";

/** Changes the name, the texts, the conditions of later assignments, and where later fees are paid. Moves no funds. */
export async function updateMaster(
  deps: Deps,
  request: UpdateMasterRequest,
  context: CallContext,
): Promise<MasterMessage> {
  const { id, labels, paymentAccountLogin: paymentLogin, minDeposit: minimum, ...others } = request;
  const minDeposit = minimum && moneyFromProto(minimum, "min_deposit").minor;
  const change: MasterChange = { ...others, minDeposit };
  checkAll(
    nameError("name", change.name),
    textError("strategy_name", change.strategyName),
    linesError("strategy", change.strategy),
    minDepositError(minDeposit),
    paymentLogin === undefined ? undefined : loginError("payment_account_login", paymentLogin),
    Object.values({ ...change, paymentLogin, labels }).every((value) => value === undefined)
      ? NO_CHANGE_OF_MASTER
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
  await changeOnce(deps, context, async (tx, at) => {
    await changeProfile(tx, { kind: "MASTER", login }, { labels });
    await changeMaster(tx, id, change, at);
  });
  return masterMessage(await getMasterById(deps, id), investorsCount);
}

const NO_CHANGE_OF_MASTER = {
  field: "",
  code: "nothing_to_change",
  message: "At least one field is required.",
};

/** Changes what the service keeps of an Investor; the trading platform keeps the names under which the account was created. */
export async function updateInvestor(
  deps: Deps,
  request: UpdateInvestorRequest,
  context: CallContext,
): Promise<InvestorProfile> {
  const { id, name, email, labels } = request;
  const isEmpty = name === undefined && email === undefined && labels === undefined;
  checkAll(nameError("name", name), emailError("email", email), isEmpty ? NO_CHANGE_OF_INVESTOR : undefined);
  const { login } = await getInvestorById(deps, id);
  await changeOnce(deps, context, async (tx) => {
    await lockAgainstErasure(tx, login);
    if ((await findErasure(tx, login)) !== undefined) throw erased(login);
    await changeProfile(tx, { kind: "INVESTOR", login }, { email, labels });
    if (name !== undefined) await renameInvestor(tx, login, name);
  });
  const investor = await getInvestorById(deps, id);
  return { investor, ...(await getProfile(deps.pool, login)) };
}

function erased(login: string): Error {
  const message = `The personal data of Investor ${login} was erased; it cannot be changed any more.`;
  return refuse("investor_erased", message, { outcome: "not_executed" });
}

const NO_CHANGE_OF_INVESTOR = {
  field: "",
  code: "nothing_to_change",
  message: "At least one of name, email, external_id and metadata is required.",
};

/** A repeated command changes nothing: a later command may have changed the same fields. */
async function changeOnce(
  { pool, now }: Deps,
  { commandId }: CallContext,
  change: (tx: Transaction, at: Date) => Promise<void>,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const at = now();
    if (commandId === "" || (await insertAccountUpdate(tx, commandId, at))) await change(tx, at);
  });
}
