import type { CallContext } from "#kernel/contract/contract.ts";
import type {
  DecidePendingFeeRequest,
  DecidePendingFeeResponse,
  GetFeeFloorsRequest,
  GetFeeFloorsResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { explainDue } from "../domain/fees/due.ts";
import { isBetween, isLogin, validate } from "../domain/validate.ts";
import { decidedFeeMessage } from "../messages/fee-facts.ts";
import { askedTerms } from "../fees/ask-terms.ts";
import { decidedFees } from "../fees/decide-due.ts";
import { refuse } from "../refusals.ts";
import { decideNow, readDueNow, sumDueNow } from "./due-now.ts";
import { readHoldingNow } from "./holding-now.ts";
import { findLastDeal } from "../store/master-results.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import { listFeeFloors } from "../store/fees.ts";

/** No transfer has a key of it. */
const PENDING = "PENDING";

/**
 * What would be due now, with the share of an open result as at the end of a week. The books must have exactly the deals up to the reading of the
 * positions, all of them allocated, and the fees of closed weeks; meanwhile they are read again.
 */
export async function decidePendingFee(
  deps: Deps,
  { terms }: DecidePendingFeeRequest,
  context: CallContext,
): Promise<DecidePendingFeeResponse> {
  if (terms === undefined) throw refuse("validation_failed", "A decision requires terms.");
  const investorLogin = terms.investors[0]?.investorLogin ?? "";
  validate(isLogin("investor_login", investorLogin));
  const asked = askedTerms(terms);
  const { account, holding, extra } = await readHoldingNow(
    deps,
    { investorLogin, isDecision: true },
    async (db, { holding: booked, at: now }) => {
      const due = await readDueNow(db, { investorLogin, pool: booked, asked, now }, context);
      const lastDeal = booked && (await findLastDeal(db, booked.masterLogin, booked.lastAllocation));
      return due && { due, lastDeal };
    },
    context,
  );
  const due = decidedFees(decideNow(extra.due), { investorLogin, suffix: PENDING, occasion: { key: PENDING } });
  return {
    masterLogin: holding?.masterLogin,
    at: extra.due.at,
    due: due.map(decidedFeeMessage),
    explanation: extra.due.inPool && explainDue(extra.due.inPool),
    throughDealId: extra.lastDeal?.dealId ?? 0n,
    throughDealAt: extra.lastDeal?.dealAt,
    isKnown: account.filedNumber >= 0n,
    totalMinor: sumDueNow(extra.due),
  };
}

/** The part of each balance that must not be used to pay a fee. */
export async function getFeeFloors(
  { pool }: Deps,
  { investorLogins }: GetFeeFloorsRequest,
): Promise<GetFeeFloorsResponse> {
  validate(isBetween("investor_logins", investorLogins.length, 1, MAX_PAGE_SIZE));
  const floors = await listFeeFloors(pool, investorLogins);
  return {
    floors: floors.map(({ floor, ...rest }) => ({ ...rest, floor: moneyToProto(usd(floor)) })),
  };
}
