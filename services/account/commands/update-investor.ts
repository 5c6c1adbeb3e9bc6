import type { CallContext } from "#kernel/contract/contract.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { InvestorProfile, UpdateInvestorRequest } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { getInvestorById } from "../directory.ts";
import { checkAll, emailError, nameError } from "../domain/checks.ts";
import { changeProfile } from "../processes/profile.ts";
import { refuse } from "../refusals.ts";
import { findErasure } from "../store/erasures.ts";
import { lockAgainstErasure, renameInvestor } from "../store/investors.ts";
import { getProfile } from "../store/profiles.ts";
import { insertAccountUpdate } from "../store/accounts.ts";

/** Changes what the service keeps of an Investor; the trading platform keeps the names under which the account was created. */
export async function updateInvestor(
  deps: Deps,
  request: UpdateInvestorRequest,
  { commandId }: CallContext,
): Promise<InvestorProfile> {
  const { id, name, email, labels } = request;
  const isEmpty = name === undefined && email === undefined && labels === undefined;
  checkAll(nameError("name", name), emailError("email", email), isEmpty ? NOTHING_TO_CHANGE : undefined);
  const { login } = await getInvestorById(deps, id);
  await changeOnce(deps, { login, name, email, labels }, commandId);
  const investor = await getInvestorById(deps, id);
  return { investor, ...(await getProfile(deps.pool, login)) };
}

type Change = Omit<UpdateInvestorRequest, "id"> & { readonly login: string };

/** A repeated command changes nothing: a later command may have changed the same fields. */
async function changeOnce(
  { pool, now }: Deps,
  { login, name, email, labels }: Change,
  commandId: string,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    if (commandId !== "" && !(await insertAccountUpdate(tx, commandId, now()))) return;
    await lockAgainstErasure(tx, login);
    if ((await findErasure(tx, login)) !== undefined) throw erased(login);
    await changeProfile(tx, { kind: "INVESTOR", login }, { email, labels });
    if (name !== undefined) await renameInvestor(tx, login, name);
  });
}

function erased(login: string): Error {
  const message = `The personal data of Investor ${login} was erased; it cannot be changed any more.`;
  return refuse("investor_erased", message, { outcome: "not_executed" });
}

const NOTHING_TO_CHANGE = {
  field: "",
  code: "nothing_to_change",
  message: "At least one of name, email, external_id and metadata is required.",
};
