import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import type { InvestorTerms } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import type { FeeFacts } from "../domain/fees/terms.ts";
import { feeFactsOf } from "../messages/fee-facts.ts";
import { readClock } from "../store/fee-decisions.ts";

/** What `fee` has answered before a decision. */
export type AskedTerms = {
  /** In which it is known: a decision in another one is not made. */
  readonly database: string;
  /** No fee of the Master may be decided. */
  readonly isStopped: boolean;
  /** By the clock of the database: fees that were recorded later are not counted. */
  readonly askedAt: Date;
  readonly of: (investorLogin: string) => FeeFacts;
};

/** The terms of Investors, and what they owe; `masterLogin` is empty outside a pool. */
export async function askTerms(
  { pool, fees }: Pick<Deps, "pool" | "fees">,
  { masterLogin, investorLogins }: { readonly masterLogin: string; readonly investorLogins: readonly string[] },
  context: CallContext,
): Promise<AskedTerms> {
  const askedAt = await readClock(pool);
  const request = { masterLogin, investorLogins: [...investorLogins], since: undefined };
  const { database, isStopped, investors } = await fees.findTerms(request, withReplyReserve(context));
  const known = new Map(investors.map((terms: InvestorTerms) => [terms.investorLogin, feeFactsOf(terms)]));
  const of = (login: string): FeeFacts => {
    const facts = known.get(login);
    assert(facts !== undefined, "fee answers for each Investor");
    return facts;
  };
  return { database, isStopped, askedAt, of };
}
