import { formatMinor } from "#kernel/values/money.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import type { NewCase } from "#kernel/review/cases.ts";
import type { Action } from "#catalogue/reviews.ts";
import { adoptCharges, isUpTo, ON_INVESTOR, ON_MASTER } from "../processes/review/external-funds.ts";
import { keepCases, type WantedCase } from "../processes/review/keep-cases.ts";
import type { Deps } from "../deps.ts";
import { type ExternalFunds, listOnInvestors, listOnMasters, resetAcknowledgedFunds } from "../store/external-funds.ts";

/**
 * Keeps a review open for external funds as long as they exist and no operator has decided. It reads the amounts, not the
 * events that brought them, so that none is missed. What is adopted by rule gets none.
 */
export async function openExternalReviews(deps: Deps): Promise<boolean> {
  await adoptCharges(deps);
  await resetAcknowledgedFunds(deps.pool);
  await keepCases(deps, ON_INVESTOR, async () => (await listOnInvestors(deps.pool)).map(wantedCase));
  await keepCases(deps, ON_MASTER, async () => (await listOnMasters(deps.pool)).map(wantedCase));
  return false;
}

function wantedCase(money: ExternalFunds): WantedCase {
  return { newCase: newCaseOf(money), isSame: (reviewCase) => isSame(reviewCase, money) };
}

function isSame(reviewCase: ReviewCase, money: ExternalFunds): boolean {
  const { amount, actions, state } = reviewCase;
  if (actions.join() !== newCaseOf(money).actions.join()) return false;
  // A proposal is about what is there when it is confirmed: an Investor's own trades may change the amount, and results own capital.
  const mayChange = state === "PROPOSED";
  return isUpTo(reviewCase, money.movedNumber) && (mayChange || amount === money.amount);
}

function newCaseOf(money: ExternalFunds): NewCase {
  const { kind, login, amount, ownCapital, masterLogin, shortfall, movedNumber, cause } = money;
  const { undecided } = money;
  return {
    subject: `${kind === "investor" ? ON_INVESTOR : ON_MASTER}${login}`,
    reason: kind === "investor" ? "external_funds_on_investor" : "external_funds_on_master",
    login,
    amount,
    cause,
    dealId: money.movedDealId,
    evidence: {
      master: masterLogin,
      below_zero_in_pool: formatMinor(shortfall),
      moved_log_number: String(movedNumber),
      ...(kind === "master" ? { own_capital: formatMinor(ownCapital), undecided: formatMinor(undecided) } : {}),
    },
    actions: kind === "investor" ? ["adopt", "acknowledge"] : actionsOnMaster(money),
  };
}

function actionsOnMaster({ undecided, undecidedSince, ...money }: ExternalFunds): Action[] {
  const { ownCapital, shortfall, isLacking, isAcknowledged, isMadeUp } = money;
  // What an account had before the service, entry 0 of its log, is no result of it.
  const canAllocate =
    undecided !== 0n ? undecidedSince > 0n && !isMadeUp : ownCapital < 0n ? isLacking : !isAcknowledged;
  const actions: Action[] = [];
  // Once the movements are decided, money of Investors lacks until it is paid in, or they bear it.
  if (undecided !== 0n || !isLacking) actions.push("acknowledge");
  if (canAllocate) actions.push("allocate");
  if (shortfall > 0n && ownCapital >= shortfall) actions.push("compensate_deficit");
  return actions;
}
