import type { FindTermsRequest, FindTermsResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { refuse } from "../refusals.ts";
import { usdToProto } from "#kernel/contract/money.ts";
import { listTerms } from "../store/configurations.ts";
import { findOwed } from "../store/debts.ts";
import { stepsOf } from "../domain/timeline.ts";

const MAX_INVESTORS = 500;
/** Before every version. */
const BEGINNING = new Date(0);

/**
 * Everything that a decision about the fees of some Investors is based on, without a lock. What they owe is read first: versions that are made
 * meanwhile may be seen or not, as those that are made after the answer.
 */
export async function findTerms(
  { pool }: { readonly pool: Queryable },
  { masterLogin, investors: wanted }: FindTermsRequest,
): Promise<FindTermsResponse> {
  if (wanted.length > MAX_INVESTORS) {
    throw refuse("validation_failed", `A request has at most ${MAX_INVESTORS} Investors.`);
  }
  const logins = wanted.map(({ investorLogin }) => investorLogin);
  const { owed, ...asked } = await findOwed(pool, masterLogin, logins);
  const sinceBy = new Map(wanted.map(({ investorLogin, since = BEGINNING }) => [investorLogin, since]));
  const terms = await listTerms(
    pool,
    Array.from(sinceBy, ([investorLogin, since]) => ({ investorLogin, since })),
  );
  const investors = wanted.map(({ investorLogin, since: from }) => {
    const own = Object.groupBy(owed.get(investorLogin) ?? [], ({ kind }) => kind);
    const { debt: debts = [], prepaid = [], weekly = [] } = own;
    const known = terms.get(investorLogin);
    return {
      investorLogin,
      since: from,
      steps: stepsOf(known?.versions ?? []),
      updatedAt: known?.updatedAt,
      debts: debts.map(({ name, amount, since }) => ({
        masterLogin: name,
        amountMinor: amount,
        since: since ?? undefined,
      })),
      prepaid: prepaid.map(({ name, amount }) => ({ masterLogin: name, amountMinor: amount, since: undefined })),
      openWeekly: weekly.map(({ name, amount }) => ({ key: name, amount: usdToProto(amount), isWeekly: true })),
    };
  });
  return { ...asked, investors };
}
