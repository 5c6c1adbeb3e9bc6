import { openClient } from "#kernel/backbone.ts";
import type { Config } from "#kernel/config.ts";
import type { Contract } from "#kernel/contract/contract.ts";
import type { Identity } from "#kernel/identity.ts";
import { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { FundingServiceService } from "#proto/pamm/funding/v1/funding.ts";
import { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Owners } from "./checks/ownership.ts";
import type { settings } from "./config.ts";
import type { Owner } from "./checks/key-owner.ts";

type Access = { readonly config: Config<typeof settings>; readonly identity: Identity };

/** The services that request transfers. They are connected to with the first call, because they may start later than this one. */
export function connectOwners(stack: AsyncDisposableStack, { config, identity }: Access): Owners {
  const client = <C extends Contract>(address: string, contract: C, service: Owner) =>
    openClient(stack, address, { contract, service, identity });
  return {
    fee: client(config.FEE_GRPC_URL, FeeServiceService, "fee").findTransfers,
    funding: client(config.FUNDING_GRPC_URL, FundingServiceService, "funding").findTransfers,
    subscription: client(config.SUBSCRIPTION_GRPC_URL, SubscriptionServiceService, "subscription").findTransfers,
  };
}
