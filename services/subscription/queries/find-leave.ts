import type { FindLeaveRequest, FindLeaveResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { crystalliseRequest } from "../messages/crystallise-request.ts";
import { listLeaves, listLeavesOfFee } from "../store/leaves.ts";

/** What the decided leave of a key asks of fee, whose database may have lost the answer. */
export async function findLeave({ pool }: Pick<Deps, "pool">, request: FindLeaveRequest): Promise<FindLeaveResponse> {
  const tries = request.key === "" ? await listLeavesOfFee(pool, request) : await listLeaves(pool, [request.key]);
  const decided = tries.find(({ state }) => state === "DECIDED");
  return { crystallisation: decided && crystalliseRequest(decided) };
}
