import { readFileSync } from "node:fs";
import { createFileRegistry, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type fc from "fast-check";
import { type Contract, type Method, methodsOf } from "#kernel/contract/contract.ts";
import { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import { FeedServiceService } from "#proto/pamm/common/v1/feed.ts";
import { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { FundingServiceService } from "#proto/pamm/funding/v1/funding.ts";
import { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import { bytesOf } from "./arbitrary-message.ts";

export const CONTRACTS: readonly Contract[] = [
  AccountServiceService,
  FeedServiceService,
  FeeServiceService,
  FundingServiceService,
  PlatformServiceService,
  SubscriptionServiceService,
];

const DESCRIPTOR_SET = new URL("../../../proto/gen/descriptor.binpb", import.meta.url);
const files = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(DESCRIPTOR_SET)));

export type Rpc = { readonly contract: Contract; readonly method: Method; readonly request: fc.Arbitrary<Buffer> };

/** Every rpc with requests that another protobuf encoder writes. */
export function rpcsOf(contract: Contract): Rpc[] {
  return methodsOf(contract).map((method) => ({ contract, method, request: bytesOf(inputOf(method)) }));
}

function inputOf({ service, rpc }: Method): DescMessage {
  const input = files.getService(service)?.methods.find(({ name }) => name === rpc)?.input;
  if (input === undefined) throw new Error(`${service} has no ${rpc}`);
  return input;
}
