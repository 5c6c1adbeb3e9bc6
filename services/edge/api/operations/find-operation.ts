import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Operation } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../../http/route.ts";
import { refuse } from "../../problems/refusals.ts";

const REMOVED = "operation_removed";

/**
 * One service records deposits and withdrawals, another assigns and unassigns. An operation is not found only when both
 * services do not have it, and removed only when neither has it and one may have had it.
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
  const rejected = answers.filter((answer) => answer.status === "rejected");
  const failure =
    rejected.find(({ reason }) => !isAbsent(reason)) ?? rejected.find(({ reason }) => hasCode(reason, REMOVED));
  if (failure !== undefined) throw failure.reason;
  throw refuse("operation_not_found", `No deposit, withdrawal, assign or unassign has the id ${operationId}.`);
}

function isAbsent(error: unknown): boolean {
  return hasCode(error, "operation_not_found") || hasCode(error, REMOVED);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Refusal && error.code === code;
}
