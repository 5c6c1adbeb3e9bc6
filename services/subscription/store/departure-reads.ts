import { type GatheredRead, gatherReads } from "#kernel/gather-reads.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { type InvestorState, listInvestorStates } from "./investor-states.ts";
import { type Leave, listLeaves } from "./leaves.ts";
import { listUnposted } from "./postings.ts";

/** What leaves read of their own key or Investor: those that wait at the same time are one statement. */
export type DepartureReads = {
  /** The recorded tries of a key. */
  readonly tries: GatheredRead<string, readonly Leave[]>;
  readonly investor: GatheredRead<string, InvestorState>;
  /** Only of an Investor with results or postings that are not on its account. */
  readonly unposted: GatheredRead<string, { readonly login: string }>;
};

export function departureReads(db: Queryable): DepartureReads {
  return {
    tries: gatherReads(async (keys) => Map.groupBy(await listLeaves(db, keys), ({ key }) => key)),
    investor: gatherReads((logins) => listInvestorStates(db, logins)),
    unposted: gatherReads(async (logins) => {
      const unposted = await listUnposted(db, logins);
      return new Map(unposted.map((login) => [login, { login }]));
    }),
  };
}
