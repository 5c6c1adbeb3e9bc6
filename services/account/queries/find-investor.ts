import type { FindInvestorRequest, Investor as InvestorMessage } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import type { Investor } from "../domain/investor.ts";
import { investorMessage } from "../messages.ts";
import { refuse } from "../refusals.ts";
import { findInvestorByLogin } from "../store/investors.ts";
import { whyNotFound } from "./not-found.ts";

export async function findInvestor(deps: Deps, { login }: FindInvestorRequest): Promise<InvestorMessage> {
  return investorMessage(await getInvestorByLogin(deps, login));
}

export async function getInvestorByLogin({ pool }: Deps, login: string): Promise<Investor> {
  const investor = await findInvestorByLogin(pool, login);
  if (investor === undefined) {
    throw refuse("investor_not_found", await whyNotFound(pool, login, "Investor"));
  }
  return investor;
}
