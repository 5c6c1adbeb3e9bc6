import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { InvestorTerms, WantedTerms } from "#proto/pamm/fee/v1/fee.ts";
import { stepsOf } from "../domain/steps.ts";
import { listTerms } from "../store/configurations.ts";
import { listOwed } from "../store/debts.ts";
import { listOpenWeekly } from "../store/due-payments.ts";

/** Before every version. */
const BEGINNING = new Date(0);

/** The terms of some Investors and what they owe, in the sequence of the array. They must be read in one snapshot. */
export async function readTerms(db: Queryable, wanted: readonly WantedTerms[]): Promise<InvestorTerms[]> {
  const terms = await listTerms(db, [
    ...new Map(
      wanted.map(({ investorLogin, since = BEGINNING }) => [investorLogin, { investorLogin, since }]),
    ).values(),
  ]);
  const investorLogins = wanted.map(({ investorLogin }) => investorLogin);
  const owed = Map.groupBy(await listOwed(db, investorLogins), ({ investorLogin }) => investorLogin);
  const weekly = await listOpenWeekly(db, investorLogins);
  return wanted.map(({ investorLogin, since: from }) => {
    const pairs = owed.get(investorLogin) ?? [];
    const known = terms.get(investorLogin);
    return {
      investorLogin,
      since: from,
      steps: stepsOf(known?.versions ?? []),
      updatedAt: known?.updatedAt,
      debts: pairs.flatMap(({ masterLogin, debt, since: oldest }) =>
        oldest === null ? [] : { masterLogin, amountMinor: debt, since: oldest },
      ),
      prepaid: pairs.flatMap(({ masterLogin, prepaid }) =>
        prepaid === 0n ? [] : { masterLogin, amountMinor: prepaid, since: undefined },
      ),
      openWeekly: (weekly.get(investorLogin) ?? []).map(({ key, due }) => {
        return { key, amount: moneyToProto(usd(due)), isWeekly: true };
      }),
    };
  });
}
