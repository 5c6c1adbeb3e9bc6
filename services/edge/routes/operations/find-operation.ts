import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Operation } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../../route.ts";
import { refuse } from "../../problems/refusals.ts";

/**
 * Deposits and withdrawals are kept by one service, assigns and unassigns by another. That there is no such operation
 * is said only when both have said so.
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
  const trouble = answers.find((answer) => answer.status === "rejected" && !isNotFound(answer.reason));
  if (trouble?.status === "rejected") throw trouble.reason;
  throw refuse("operation_not_found", "no deposit, withdrawal, assign or unassign is on record under this id");
}

function isNotFound(error: unknown): boolean {
  return error instanceof Refusal && error.code === "operation_not_found";
}
