import { byKey, type GatheredRead, gatherReads } from "#kernel/batches/gather-reads.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { type FiledNumber, findFiledNumbers } from "./filed-numbers.ts";
import { type InvestorState, listInvestorStates } from "./investor-states.ts";
import { listUnposted } from "./postings.ts";

/** What sagas read of accounts: those that wait at the same time are one statement. */
export type AccountReads = {
  readonly investor: GatheredRead<string, InvestorState>;
  /** Up to where the log of an account is filed; undefined when no entry of it is. */
  readonly filed: GatheredRead<string, FiledNumber>;
  /** Only of an Investor with results or postings that are not on its account. */
  readonly unposted: GatheredRead<string, { readonly login: string }>;
};

export function accountReads(db: Queryable): AccountReads {
  return {
    investor: gatherReads((logins) => listInvestorStates(db, logins)),
    filed: gatherReads(async (logins) => byKey(await findFiledNumbers(db, logins), ({ login }) => login)),
    unposted: gatherReads(async (logins) => {
      const unposted = await listUnposted(db, logins);
      return new Map(unposted.map((login) => [login, { login }]));
    }),
  };
}
