import { type GatheredRead, gatherReads } from "#kernel/gather-reads.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { type InvestorState, listInvestorStates } from "./investor-states.ts";
import { listUnposted } from "./postings.ts";

/** What departures read of their Investors: those that wait at the same time are one statement. */
export type DepartureReads = {
  readonly investor: GatheredRead<string, InvestorState>;
  /** Only of an Investor with results or postings that are not on its account. */
  readonly unposted: GatheredRead<string, { readonly login: string }>;
};

export function departureReads(db: Queryable): DepartureReads {
  return {
    investor: gatherReads((logins) => listInvestorStates(db, logins)),
    unposted: gatherReads(async (logins) => {
      const unposted = await listUnposted(db, logins);
      return new Map(unposted.map((login) => [login, { login }]));
    }),
  };
}
