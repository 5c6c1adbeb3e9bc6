import assert from "node:assert/strict";
import type { CallContext, Client } from "#kernel/contract/contract.ts";
import type { PlatformServiceService, TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aCall, eventually } from "./world.ts";

type Reads = Pick<Client<PlatformServiceService>, "readTransfers">;

/** The state of a transfer that was recorded. */
export async function recordedTransfer(service: Reads, key: string, context = aCall()): Promise<TransferResult> {
  const recorded = await find(service, key, context);
  assert(recorded !== undefined, `a transfer is recorded under ${key}`);
  return recorded;
}

export async function isRecorded(service: Reads, key: string): Promise<boolean> {
  return (await find(service, key, aCall())) !== undefined;
}

/** The recorded transfer, once it is in this state. */
export async function transferThatIs(
  state: TransferState,
  service: Reads,
  key: string,
  withinMs?: number,
): Promise<TransferResult> {
  return await eventually(
    () => recordedTransfer(service, key),
    (recorded) => recorded.state === state,
    withinMs,
  );
}

async function find(service: Reads, key: string, context: CallContext): Promise<TransferResult | undefined> {
  const { transfers } = await service.readTransfers({ keys: [key] }, context);
  return transfers[0];
}
