import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { formatAmount, usd } from "#kernel/money.ts";
import type { GetWaitingFeesResponse } from "#proto/pamm/fee/v1/fee.ts";
import { type MarketWait as MarketWaitMessage, MarketWaitReason } from "#proto/pamm/subscription/v1/subscription.ts";
import type { MarketWait } from "../store/market-waits.ts";

/** What waits, since when, and what ends it. */
export function marketWaitMessage(masterLogin: string, wait: MarketWait): MarketWaitMessage {
  const { since, amount } = wait;
  const shown = formatAmount(usd(amount));
  const common = { amount: moneyToProto(usd(amount)), since };
  if (wait.kind === "free_margin") {
    const message = `${shown} of fees, withdrawals or exits is above the free margin of Master ${masterLogin}, and taking it could close its positions. It is taken after a deal of the Master that frees margin or when it is flat, and is tried again at ${wait.nextAt.toISOString()} at the latest.`;
    return { ...common, reason: MarketWaitReason.FREE_MARGIN, message };
  }
  if (wait.kind === "master_not_shown") {
    const message = `${shown} joins the pool when the trading platform shows the account of Master ${masterLogin} again, which the broker has archived or deleted. Until then it is on the accounts of its Investors.`;
    return { ...common, reason: MarketWaitReason.MASTER_NOT_SHOWN, message };
  }
  if (wait.kind === "pool_deficit") {
    const message = `${shown} joins the pool when a compensation of the broker, or a result, has covered what is below 0.00 in the pool of Master ${masterLogin}. Until then it is on the accounts of its Investors, who can withdraw it.`;
    return { ...common, reason: MarketWaitReason.POOL_DEFICIT, message };
  }
  if (wait.kind === "payment_account_archived") {
    const message = `${shown} of fees is paid when the trading platform shows payment account ${wait.paymentAccountLogin} again, which the broker has archived or deleted, or when payment_account_login of Master ${masterLogin} is changed to another account. Until then it stays on the accounts of its Investors, and who has left the pool stays PAUSED.`;
    return { ...common, reason: MarketWaitReason.PAYMENT_ACCOUNT_ARCHIVED, message };
  }
  const message = `${shown} gets or returns units at the next price of the open positions of Master ${masterLogin}, or when it is flat: until then it has no share in results that begin later. ${wait.prices}`;
  return { ...common, reason: MarketWaitReason.OLD_PRICE, message };
}

/** The fees of a Master that wait for its archived payment account; empty without any. */
export function waitingFees({ amount, since, paymentAccountLogin }: GetWaitingFeesResponse): MarketWait[] {
  if (amount === undefined || since === undefined) return [];
  return [{ kind: "payment_account_archived", amount: moneyFromProto(amount).minor, since, paymentAccountLogin }];
}
