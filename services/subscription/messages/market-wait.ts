import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { formatAmount, usd } from "#kernel/values/money.ts";
import type { GetWaitingFeesResponse } from "#proto/pamm/fee/v1/fee.ts";
import { type MarketWait as MarketWaitMessage, MarketWaitReason } from "#proto/pamm/subscription/v1/subscription.ts";
import type { MarketWait } from "../store/market-waits.ts";

const REASONS: Readonly<Record<MarketWait["kind"], MarketWaitReason>> = {
  free_margin: MarketWaitReason.FREE_MARGIN,
  old_price: MarketWaitReason.OLD_PRICE,
  master_not_shown: MarketWaitReason.MASTER_NOT_SHOWN,
  pool_deficit: MarketWaitReason.POOL_DEFICIT,
  payment_account_archived: MarketWaitReason.PAYMENT_ACCOUNT_ARCHIVED,
};

/** What waits, since when, and what ends it. */
export function marketWaitMessage(masterLogin: string, wait: MarketWait): MarketWaitMessage {
  const amount = usd(wait.amount);
  const message = `${formatAmount(amount)} ${whatEnds(masterLogin, wait)}`;
  return { amount: moneyToProto(amount), since: wait.since, reason: REASONS[wait.kind], message };
}

function whatEnds(masterLogin: string, wait: MarketWait): string {
  switch (wait.kind) {
    case "free_margin":
      return `of fees, withdrawals or exits is above the free margin of Master ${masterLogin}, and taking it could close its positions. It is taken after a deal of the Master that frees margin or when it is flat, and is tried again at ${wait.nextAt.toISOString()} at the latest.`;
    case "old_price":
      return `gets or returns units at the next price of the open positions of Master ${masterLogin}, or when it is flat: until then it has no share in results that begin later. ${wait.prices}`;
    case "master_not_shown":
      return `joins the pool when the trading platform shows the account of Master ${masterLogin} again, which the broker has archived or deleted. Until then it is on the accounts of its Investors.`;
    case "pool_deficit":
      return `joins the pool when a compensation of the broker, or a result, has covered what is below 0.00 in the pool of Master ${masterLogin}. Until then it is on the accounts of its Investors, who can withdraw it.`;
    case "payment_account_archived":
      return `of fees is paid when the trading platform shows payment account ${wait.paymentAccountLogin} again, which the broker has archived or deleted, or when payment_account_login of Master ${masterLogin} is changed to another account. Until then it stays on the accounts of its Investors, and who has left the pool stays PAUSED.`;
  }
}

/** The fees of a Master that wait for its archived payment account; empty without any. */
export function waitingFees({ amount, since, paymentAccountLogin }: GetWaitingFeesResponse): MarketWait[] {
  if (amount === undefined || since === undefined) return [];
  return [{ kind: "payment_account_archived", amount: moneyFromProto(amount).minor, since, paymentAccountLogin }];
}
