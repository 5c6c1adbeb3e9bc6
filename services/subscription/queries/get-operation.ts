import type { GetOperationRequest, Operation } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { findOperation } from "../store/operations.ts";
import { describe } from "./operation.ts";

/** Whether an assign or unassign happened. Not found: it was refused before anything was on record, or never came. */
export async function getOperation(deps: Deps, { operationId }: GetOperationRequest): Promise<Operation> {
  const recorded = await findOperation(deps.pool, operationId, deps.now());
  if (recorded === undefined) throw refuse("operation_not_found", `Operation ${operationId} is not recorded.`);
  return await describe(deps, recorded);
}
