import { readFileSync } from "node:fs";
import { createFileRegistry, type DescMethod, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { ServiceName } from "#catalogue/services.ts";
import type { Contract, Method, Permissions } from "#kernel/contract/contract.ts";
import { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import { FeedServiceService } from "#proto/pamm/common/v1/feed.ts";
import { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { FundingServiceService } from "#proto/pamm/funding/v1/funding.ts";
import { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import { PERMISSIONS as account } from "../../services/account/permissions.ts";
import { PERMISSIONS as fee } from "../../services/fee/permissions.ts";
import { PERMISSIONS as funding } from "../../services/funding/permissions.ts";
import { PERMISSIONS as platform } from "../../services/platform/permissions.ts";
import { PERMISSIONS as subscription } from "../../services/subscription/permissions.ts";

export type Callable = Exclude<ServiceName, "edge">;

type Served = { readonly contract: Contract; readonly permissions: Permissions<Contract> };

/** What each service serves, beside the feeds. */
export const SERVED: Readonly<Record<Callable, Served>> = {
  account: { contract: AccountServiceService, permissions: account },
  fee: { contract: FeeServiceService, permissions: fee },
  funding: { contract: FundingServiceService, permissions: funding },
  platform: { contract: PlatformServiceService, permissions: platform },
  subscription: { contract: SubscriptionServiceService, permissions: subscription },
};
export const CALLABLE = Object.keys(SERVED) as Callable[];

export const CONTRACTS: readonly Contract[] = [
  FeedServiceService,
  ...Object.values(SERVED).map(({ contract }) => contract),
];

const DESCRIPTOR_SET = new URL("../../proto/gen/descriptor.binpb", import.meta.url);

/** What `buf` has read in `proto`: for messages that another encoder writes. */
export const DESCRIPTORS = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(DESCRIPTOR_SET)));

export function descriptorOf({ service, rpc }: Method): DescMethod {
  const found = DESCRIPTORS.getService(service)?.methods.find(({ name }) => name === rpc);
  if (found === undefined) throw new Error(`${service} has no ${rpc}`);
  return found;
}
