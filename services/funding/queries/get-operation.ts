import type { GetOperationRequest, Operation } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { findCashflow } from "../store/cashflows.ts";
import { describe } from "./operation.ts";

/** Whether it happened, as far as our books know. Not found: it was never recorded, so nobody was asked to act. */
export async function getOperation(deps: Deps, { operationId }: GetOperationRequest): Promise<Operation> {
  const cashflow = await findCashflow(deps.pool, operationId);
  if (cashflow === undefined) throw refuse("operation_not_found", `Operation ${operationId} is not recorded.`);
  return await describe(deps, cashflow);
}
