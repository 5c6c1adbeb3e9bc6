import type { Pool } from "#kernel/postgres/pool.ts";
import type { InvestorFacts } from "../store/investor-facts.ts";
import { insertCashflows, type RequestedCashflow } from "../store/new-cashflows.ts";
import { INVESTOR } from "./funding.ts";

export function aNewWithdrawal(overrides: Partial<RequestedCashflow> = {}): RequestedCashflow {
  return {
    operationId: "op-1",
    action: "withdraw",
    login: INVESTOR,
    amount: { currency: "USD", minor: 40_00n },
    comment: "",
    deadline: new Date(),
    at: new Date(),
    duplicates: undefined,
    clientKey: undefined,
    asked: { masterMinimum: undefined },
    ...overrides,
  };
}

/** What a request of each Investor is decided with now; unknown Investors are left out. */
export async function factsOf(pool: Pool, logins: readonly string[]): Promise<Map<string, InvestorFacts>> {
  const requests = logins.map((login) => aNewWithdrawal({ operationId: `facts of ${login}`, login, asked: undefined }));
  const considered = await insertCashflows(pool, requests);
  return new Map(
    logins.flatMap((login) => {
      const facts = considered.get(`facts of ${login}`)?.facts;
      return facts === undefined ? [] : [[login, { masterMinimum: facts.masterMinimum }]];
    }),
  );
}
