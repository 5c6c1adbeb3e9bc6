import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, queryContext } from "#kernel/contract/deadlines.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import type { GetEquityRequest, GetEquityResponse, HoldingValue } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { isLogin, validate } from "../domain/validate.ts";
import { roundDivide } from "../domain/pool/rounding.ts";
import { E8_PER_CENT } from "../domain/pool/unit-pool.ts";
import { safetyStop } from "../domain/safety-stop.ts";
import { type AskedTerms, askTerms } from "../fees/ask-terms.ts";
import { findInvestorState } from "../store/investor-states.ts";
import { findAllocatedDeal } from "../store/results.ts";
import { type DueNow, readDueNow, realise, sumDueNow } from "./due-now.ts";
import { type HoldingNow, readHoldingNow } from "./holding-now.ts";
import { sumOfDebts } from "../domain/fees/terms.ts";

/**
 * What an Investor owns: the books at one log position of the Master, valued with the positions that the trading platform shows at the same
 * one. Changes nothing.
 */
export async function getEquity(
  deps: Deps,
  { investorLogin }: GetEquityRequest,
  context: CallContext,
): Promise<GetEquityResponse> {
  validate(isLogin("investor_login", investorLogin));
  const asked = await askForPool(deps, investorLogin, context);
  const { at, account, holding, extra } = await readHoldingNow(
    deps,
    { investorLogin, isDecision: false },
    async (db, { holding: booked, at: now }) => {
      if (booked !== undefined && asked.isStopped) throw safetyStop(booked.masterLogin, "stopped");
      const due = await readDueNow(db, { investorLogin, pool: booked, asked, now }, context);
      return due && { due, deal: booked && (await findAllocatedDeal(db, booked.masterLogin)) };
    },
    context,
  );
  const isFiled = account.filedNumber >= 0n;
  const balance = isFiled ? await balanceAt(deps, investorLogin, account.filedNumber, context) : 0n;
  return {
    investorLogin,
    asOf: at,
    balance: moneyToProto(usd(balance)),
    unposted: moneyToProto(usd(account.unposted)),
    quarantined: moneyToProto(usd(account.quarantined)),
    holding: holding && valueMessage(holding, extra.deal),
    ...feesOf(extra.due, holding?.floating ?? 0n),
  };
}

async function askForPool(deps: Deps, investorLogin: string, context: CallContext): Promise<AskedTerms> {
  const { holding } = await findInvestorState(deps.pool, investorLogin);
  const wanted = { masterLogin: holding?.masterLogin ?? "", investorLogins: [investorLogin] };
  return await failAsUnavailable(() => askTerms(deps, wanted, queryContext(context)));
}

/** A floating profit raises no fee before it is a result. */
function feesOf(due: DueNow, floating: bigint) {
  const whenFlat = realise(due, roundDivide(floating, E8_PER_CENT));
  return {
    pendingFee: moneyToProto(usd(sumDueNow(due))),
    feeWhenFlat: moneyToProto(usd(sumDueNow(whenFlat))),
    debt: moneyToProto(usd(sumOfDebts(due.facts.debts))),
    markE8: due.inPool?.earnings.mark ?? 0n,
  };
}

function valueMessage(holding: HoldingNow, deal: Awaited<ReturnType<typeof findAllocatedDeal>>): HoldingValue {
  return {
    subscriptionId: holding.subscriptionId,
    masterLogin: holding.masterLogin,
    pooled: moneyToProto(usd(holding.pooled)),
    joining: moneyToProto(usd(holding.inbound + holding.waiting)),
    floatingE8: holding.floating,
    units: holding.units.toString(),
    poolUnits: holding.sums.units.toString(),
    poolValueE8: holding.poolValue.toString(),
    openPositions: holding.openPositions,
    allocationNumber: holding.lastAllocation,
    dealId: deal?.dealId,
    dealAt: deal?.dealAt,
  };
}

/** Entries of the log never change, so this is the balance of the instant of the books. */
async function balanceAt({ platform }: Deps, login: string, number: bigint, context: CallContext): Promise<bigint> {
  const positions = [{ login, number }];
  const { balances } = await failAsUnavailable(() => platform.readLogBalances({ positions }, queryContext(context)));
  return moneyFromProto(balances[0]?.balance, "balance").minor;
}
