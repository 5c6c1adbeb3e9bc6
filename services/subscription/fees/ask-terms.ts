import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { type GatheredRead, gatherReads } from "#kernel/batches/gather-reads.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import type { FindTermsResponse } from "#proto/pamm/fee/v1/fee.ts";
import { MINUTE_MS } from "#kernel/values/duration.ts";
import { later } from "#kernel/jobs/retry.ts";
import type { Deps } from "../deps.ts";
import type { FeeFacts } from "../domain/fees/terms.ts";
import { feeFactsOf } from "../messages/fee-facts.ts";
import { jobContext } from "../processes/deadlines.ts";
import { listUnchargedSince } from "../store/fee-decisions.ts";

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

/** The instant of a decision may be so much earlier than the call. */
const MARGIN_MS = MINUTE_MS;

type Asking = Pick<Deps, "pool" | "fees" | "now">;

export type WantedTerms = {
  /** Empty outside a pool. */
  readonly masterLogin: string;
  readonly investorLogins: readonly string[];
  /** What is decided; by default: now. */
  readonly at?: Date;
};

/** The terms of Investors for a decision, and what they owe. Of the timeline of each only what rates its profit that is not charged yet. */
export async function askTerms(
  { pool, fees, now }: Asking,
  { masterLogin, investorLogins, at = later(now(), -MARGIN_MS) }: WantedTerms,
  context: CallContext,
): Promise<AskedTerms> {
  const investors = await listUnchargedSince(pool, masterLogin, investorLogins, at);
  return askedTerms(await fees.findTerms({ masterLogin, investors }, withReplyReserve(context)));
}

/** Of each process, that is of its dependencies. */
const gathered = new WeakMap<Asking, GatheredRead<string, AskedTerms>>();

/** The terms of an Investor now, as `askTerms`: what is asked at the same time about Investors of one Master is one call. */
export async function askTermsOf(deps: Asking, masterLogin: string, investorLogin: string): Promise<AskedTerms> {
  const read = gathered.get(deps) ?? gatherReads((pairs) => askTogether(deps, pairs));
  gathered.set(deps, read);
  const terms = await read(`${masterLogin}/${investorLogin}`);
  assert(terms !== undefined, "each Investor is answered for");
  return terms;
}

async function askTogether(deps: Asking, pairs: readonly string[]): Promise<Map<string, AskedTerms | Error>> {
  const byMaster = Map.groupBy(pairs, (pair) => pair.slice(0, pair.indexOf("/")));
  const answers = await Promise.all(
    Array.from(byMaster, async ([masterLogin, own]) => {
      const investorLogins = own.map((pair) => pair.slice(masterLogin.length + 1));
      const terms = await askTerms(deps, { masterLogin, investorLogins }, jobContext()).catch(asError);
      return own.map((pair) => [pair, terms] as const);
    }),
  );
  return new Map(answers.flat());
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error("terms were not answered", { cause: error });
}

/** Answers about an Investor each, as one; undefined when they are of two databases. */
export function termsTogether(answers: ReadonlyMap<string, AskedTerms>): AskedTerms | undefined {
  const all = [...answers.values()];
  const [first, ...others] = all;
  if (first === undefined || others.some(({ database }) => database !== first.database)) return undefined;
  return {
    database: first.database,
    isStopped: all.some(({ isStopped }) => isStopped),
    askedAt: new Date(Math.min(...all.map(({ askedAt }) => askedAt.getTime()))),
    of(login) {
      const own = answers.get(login);
      assert(own !== undefined, "each Investor has an answer");
      return own.of(login);
    },
  };
}

export function askedTerms({ database, isStopped, askedAt, investors }: FindTermsResponse): AskedTerms {
  assert(askedAt !== undefined, "an answer of fee has an instant");
  const known = new Map(investors.map((terms) => [terms.investorLogin, feeFactsOf(terms)]));
  const of = (login: string): FeeFacts => {
    const facts = known.get(login);
    assert(facts !== undefined, "fee answers for each Investor");
    return facts;
  };
  return { database, isStopped, askedAt, of };
}
