import type { CallContext } from "#kernel/contract/contract.ts";
import { type GetOperationRequest, type Operation, OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { findCashflow } from "../store/cashflows.ts";
import { describe } from "./operation.ts";

/** Whether it happened, as far as anybody knows. Not found: it was never recorded, so nobody was asked to act. */
export async function getOperation(
  deps: Deps,
  { operationId }: GetOperationRequest,
  context: CallContext,
): Promise<Operation> {
  const cashflow = await findCashflow(deps.pool, operationId);
  if (cashflow === undefined) throw refuse("operation_not_found", "no operation has this id");
  return upToDate(await describe(deps, cashflow, context));
}

const OWN_KINDS = new Set(["deposit", "withdrawal"]);
const DECIDED = new Set<OperationOutcome>([
  OperationOutcome.EXECUTED,
  OperationOutcome.NOT_EXECUTED,
  OperationOutcome.REVIEW,
]);

/** Platform's journal is ahead of our books until the settling job has looked again. */
function upToDate(operation: Operation): Operation {
  const own = operation.legs.find(({ kind }) => OWN_KINDS.has(kind));
  if (own === undefined || DECIDED.has(operation.outcome) || !DECIDED.has(own.outcome)) return operation;
  return { ...operation, outcome: own.outcome, dealId: own.dealId };
}
