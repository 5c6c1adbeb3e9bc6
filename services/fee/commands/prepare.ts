import type { CallContext } from "#kernel/contract/contract.ts";
import type { PrepareRequest, PrepareResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { readMaster } from "../processes/accounting/read-master.ts";

/** Reads a Master's allocations in advance, so that the crystallisation that follows has little left to read. */
export async function prepare(
  deps: Deps,
  { masterLogin }: PrepareRequest,
  context: CallContext,
): Promise<PrepareResponse> {
  await readMaster(deps, masterLogin, context);
  return {};
}
