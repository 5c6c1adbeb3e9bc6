import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import type { InvestorTerms } from "#proto/pamm/fee/v1/fee.ts";
import { MINUTE_MS } from "#kernel/duration.ts";
import { later } from "#kernel/retry.ts";
import type { Deps } from "../deps.ts";
import type { FeeFacts } from "../domain/fees/terms.ts";
import { feeFactsOf } from "../messages/fee-facts.ts";
import { readUncharged } from "../store/fee-decisions.ts";

/** What `fee` has answered before a decision. */
export type AskedTerms = {
  /** In which it is known: a decision in another one is not made. */
  readonly database: string;
  /** No fee of the Master may be decided. */
  readonly isStopped: boolean;
  /** By the clock of the database: fees that were recorded later are not counted. */
  readonly askedAt: Date;
  /** The terms are not known before this instant: profit that was earned earlier has to be asked for again. */
  readonly since: Date;
  readonly of: (investorLogin: string) => FeeFacts;
};

/** The instant of a decision may be so much earlier than the call. */
const MARGIN_MS = MINUTE_MS;

export type WantedTerms = {
  /** Empty outside a pool. */
  readonly masterLogin: string;
  readonly investorLogins: readonly string[];
  /** What is decided; undefined: now. */
  readonly at?: Date;
};

/** The terms of Investors for a decision, and what they owe. Of their timelines only what rates profit that is not charged yet. */
export async function askTerms(
  { pool, fees }: Pick<Deps, "pool" | "fees">,
  { masterLogin, investorLogins, at }: WantedTerms,
  context: CallContext,
): Promise<AskedTerms> {
  const { now: askedAt, earnedFrom } = await readUncharged(pool, masterLogin, investorLogins);
  const decided = at ?? later(askedAt, -MARGIN_MS);
  const since = earnedFrom !== null && earnedFrom < decided ? earnedFrom : decided;
  const request = { masterLogin, investorLogins: [...investorLogins], since };
  const { database, isStopped, investors } = await fees.findTerms(request, withReplyReserve(context));
  const known = new Map(investors.map((terms: InvestorTerms) => [terms.investorLogin, feeFactsOf(terms)]));
  const of = (login: string): FeeFacts => {
    const facts = known.get(login);
    assert(facts !== undefined, "fee answers for each Investor");
    return facts;
  };
  return { database, isStopped, askedAt, since, of };
}
