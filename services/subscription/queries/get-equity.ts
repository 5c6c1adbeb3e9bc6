import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, queryContext } from "#kernel/contract/deadlines.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { GetEquityRequest, GetEquityResponse, HoldingValue } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { isLogin, validate } from "../domain/validate.ts";
import { findAllocatedDeal } from "../store/holding-books.ts";
import { type HoldingNow, readHoldingNow } from "./holding-now.ts";

const MAX_READS = 5;
/** The balance is still to be read. */
const RESERVE_MS = 1_000;

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
  const wanted = { investorLogin, isDecision: false, maxReads: MAX_READS, reserveMs: RESERVE_MS };
  const { at, account, holding } = await readHoldingNow(
    deps,
    wanted,
    (db, { masterLogin }) => findAllocatedDeal(db, masterLogin),
    context,
  );
  if (account === undefined) return nothingFiled(investorLogin, at);
  const balance = await balanceAt(deps, investorLogin, account.filedNumber, context);
  return {
    investorLogin,
    asOf: at,
    balance: moneyToProto(usd(balance)),
    unposted: moneyToProto(usd(account.unposted)),
    quarantined: moneyToProto(usd(account.quarantined)),
    holding: holding && valueMessage(holding, holding.extra),
  };
}

function nothingFiled(investorLogin: string, asOf: Date): GetEquityResponse {
  const nothing = moneyToProto(usd(0n));
  return { investorLogin, asOf, balance: nothing, unposted: nothing, quarantined: nothing, holding: undefined };
}

function valueMessage(
  { masterLogin, holding, inbound, lastAllocation, value, sums, openPositions }: HoldingNow,
  deal: Awaited<ReturnType<typeof findAllocatedDeal>>,
): HoldingValue {
  return {
    subscriptionId: holding.subscriptionId,
    masterLogin,
    pooled: moneyToProto(usd(holding.pooled)),
    joining: moneyToProto(usd(inbound + holding.waiting)),
    floatingE8: value.floating,
    carryE8: holding.carry,
    units: holding.units.toString(),
    poolUnits: sums.units.toString(),
    poolValueE8: value.poolValue.toString(),
    openPositions,
    allocationNumber: lastAllocation,
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
