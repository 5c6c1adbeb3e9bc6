import assert from "node:assert/strict";
import type { Client } from "#kernel/contract/contract.ts";
import type { PlatformServiceService, TransferResult } from "#proto/pamm/platform/v1/platform.ts";
import { aCall } from "./world.ts";

type Reads = Pick<Client<PlatformServiceService>, "readTransfers">;

/** The state of a transfer that was recorded. */
export async function recordedTransfer(service: Reads, key: string): Promise<TransferResult> {
  const { transfers } = await service.readTransfers({ keys: [key] }, aCall());
  const [recorded] = transfers;
  assert(recorded !== undefined, `a transfer is recorded under ${key}`);
  return recorded;
}

export async function isRecorded(service: Reads, key: string): Promise<boolean> {
  const { transfers } = await service.readTransfers({ keys: [key] }, aCall());
  return transfers.length > 0;
}
