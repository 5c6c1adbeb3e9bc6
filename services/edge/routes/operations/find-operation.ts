import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Operation } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../../route.ts";
import { refuse } from "../../problems/refusals.ts";

/**
 * One service records deposits and withdrawals, another assigns and unassigns. An operation is not found only when both
 * services do not have it.
 */
export async function findOperation(
  { funding, subscriptions }: Deps,
  operationId: string,
  context: CallContext,
): Promise<Operation> {
  const answers = await Promise.allSettled([
    funding.getOperation({ operationId }, context),
    subscriptions.getOperation({ operationId }, context),
  ]);
  for (const answer of answers) if (answer.status === "fulfilled") return answer.value;
  const failure = answers.find((answer) => answer.status === "rejected" && !isNotFound(answer.reason));
  if (failure?.status === "rejected") throw failure.reason;
  throw refuse("operation_not_found", `No deposit, withdrawal, assign or unassign has the id ${operationId}.`);
}

function isNotFound(error: unknown): boolean {
  return error instanceof Refusal && error.code === "operation_not_found";
}
