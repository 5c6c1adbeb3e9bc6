import { type GatheredRead, gatherReads } from "#kernel/gather-reads.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { type InvestorState, listInvestorStates } from "../../store/investor-states.ts";
import { type Leave, listLeaves } from "../../store/leaves.ts";
import { listUnposted } from "../../store/postings.ts";

/** What leaves read of their own key or Investor: those that wait at the same time are one statement. */
export type LeaveReads = {
  /** The recorded tries of a key. */
  readonly tries: GatheredRead<string, readonly Leave[]>;
  readonly investor: GatheredRead<string, InvestorState>;
  /** Only of an Investor with results or postings that are not on its account. */
  readonly unposted: GatheredRead<string, { readonly login: string }>;
};

const ofPools = new WeakMap<Pool, LeaveReads>();

export function leaveReads(pool: Pool): LeaveReads {
  const known = ofPools.get(pool) ?? {
    tries: gatherReads(async (keys) => Map.groupBy(await listLeaves(pool, keys), ({ key }) => key)),
    investor: gatherReads((logins) => listInvestorStates(pool, logins)),
    unposted: gatherReads(async (logins) => {
      const unposted = await listUnposted(pool, logins);
      return new Map(unposted.map((login) => [login, { login }]));
    }),
  };
  ofPools.set(pool, known);
  return known;
}
