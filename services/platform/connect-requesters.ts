import { clientsOf } from "#kernel/process/backbone.ts";
import type { Config } from "#kernel/process/config.ts";
import type { Identity } from "#kernel/certificates/identity.ts";
import { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { FundingServiceService } from "#proto/pamm/funding/v1/funding.ts";
import { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Requesters } from "./checks/ownership.ts";
import type { settings } from "./config.ts";
import type { TradingUse } from "./checks/trading-use.ts";

type Access = { readonly config: Config<typeof settings>; readonly identity: Identity };

/** Services that have a row behind each transfer, and those that know which accounts must not trade. */
type Asked = {
  readonly requesters: Requesters;
  readonly tradingUse: TradingUse;
};

/** They are connected to with the first call, because they may start later than this one. */
export function connectRequesters(stack: AsyncDisposableStack, { config, identity }: Access): Asked {
  const client = clientsOf(stack, identity);
  const account = client("account", config.ACCOUNT_GRPC_URL, AccountServiceService);
  const subscription = client("subscription", config.SUBSCRIPTION_GRPC_URL, SubscriptionServiceService);
  return {
    requesters: {
      fee: client("fee", config.FEE_GRPC_URL, FeeServiceService).findTransfers,
      funding: client("funding", config.FUNDING_GRPC_URL, FundingServiceService).findTransfers,
      subscription: subscription.findTransfers,
    },
    tradingUse: { findPooled: subscription.findPooled, findPaymentAccounts: account.findPaymentAccounts },
  };
}
