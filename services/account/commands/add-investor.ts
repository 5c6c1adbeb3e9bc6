import type { CallContext } from "#kernel/contract/contract.ts";
import { labelErrors } from "#kernel/labels.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { AddInvestorRequest, Investor as InvestorMessage } from "#proto/pamm/account/v1/account.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import type { Deps } from "../deps.ts";
import { registerInvestor } from "../directory-changes.ts";
import { checkAll, loginError, nameError } from "../domain/checks.ts";
import { decideExistence, decideRole } from "../domain/decide-registration.ts";
import { findInvestorByCommand } from "../store/investors.ts";
import { requireFreeExternalId } from "../processes/profile.ts";
import { registerOnce, registrationFacts } from "../processes/register.ts";
import type { Investor } from "../domain/master.ts";

/** Registers an existing account as an Investor. Moves no funds. */
export async function addInvestor(
  deps: Deps,
  { login, name, labels }: AddInvestorRequest,
  context: CallContext,
): Promise<InvestorMessage> {
  checkAll(loginError("mt5_login", login), nameError("name", name), ...labelErrors(labels));
  const { commandId } = context;
  const register = async (): Promise<Investor> => {
    const facts = await registrationFacts(deps, [{ field: "mt5_login", login }], context);
    for (const fact of facts) decideRole(fact, "INVESTOR");
    decideExistence(facts);
    await requireFreeExternalId(deps.pool, "INVESTOR", labels);
    await deps.platform.adoptAccount({ login, role: AccountRole.INVESTOR }, context);
    const [createdAt, profile] = [deps.now(), { email: undefined, labels }];
    return await inTransaction(deps.pool, (tx) => registerInvestor(tx, { login, name, createdAt, commandId, profile }));
  };
  const find = () => findInvestorByCommand(deps.pool, commandId);
  return await registerOnce({ find, register });
}
