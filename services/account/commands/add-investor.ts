import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { AddInvestorRequest, Investor as InvestorMessage } from "#proto/pamm/account/v1/account.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import type { Deps } from "../deps.ts";
import { checkAll, loginError, nameError } from "../domain/checks.ts";
import { decideExistence, decideTradingLogin } from "../domain/decide-registration.ts";
import { investorMessage } from "../messages.ts";
import { insertAnsweredCommand } from "../store/answered-commands.ts";
import { findInvestorById, insertInvestor } from "../store/investors.ts";
import { once } from "./once.ts";
import { registering, registrationFacts } from "../processes/register.ts";

/** Registers an existing account as an Investor. Moves no funds. */
export async function addInvestor(
  deps: Deps,
  { login, name }: AddInvestorRequest,
  context: CallContext,
): Promise<InvestorMessage> {
  checkAll(loginError("mt5_login", login), nameError("name", name));
  const work = async () => {
    const facts = await registrationFacts(deps, [{ field: "mt5_login", login }], context);
    for (const fact of facts) {
      decideTradingLogin(fact, "INVESTOR");
    }
    decideExistence(facts);
    await deps.platform.adoptAccount({ login, role: AccountRole.INVESTOR }, context);
    const createdAt = deps.now();
    return await inTransaction(deps.pool, async (tx) => {
      const investor = await insertInvestor(tx, { login, name, createdAt });
      await insertAnsweredCommand(tx, { commandId: context.commandId, subjectId: investor.id, at: createdAt });
      return investorMessage(investor);
    });
  };
  return await registering(() => once(deps, context, { work, again: (id) => answerAgain(deps, id) }));
}

async function answerAgain({ pool }: Deps, id: bigint): Promise<InvestorMessage> {
  const investor = await findInvestorById(pool, id);
  assert(investor !== undefined, "who was registered stays");
  return investorMessage(investor);
}
