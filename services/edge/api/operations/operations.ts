import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { type Operation, OperationAction } from "#proto/pamm/funding/v1/funding.ts";
import { optional } from "../../fields/message.ts";
import { type Deps, route } from "../../http/route.ts";
import { demandScope } from "../../identity/keys/caller.ts";
import { refuse } from "../../problems/refusals.ts";
import { isFinal, OperationReply } from "../schemas/operation.ts";
import { operationId, wait } from "../schemas/request-fields.ts";
import { withLegs } from "./movements.ts";

/** A key that may send such a command may read its outcome, and so may a key that reads Investors. */
export const READERS = {
  scope: "investors:read",
  orScopes: ["funds:deposit", "funds:withdraw", "subscriptions:write"],
} as const;

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

export const getOperation = route("GET /api/v1/operations/:operation_id", {
  ...READERS,
  summary: "Get an operation",
  description:
    "Returns the outcome of a deposit, withdrawal, assign or unassign by its X-Operation-Id. Legs are omitted while they cannot be read. 404 for an id more than 10 seconds after its last request proves that nothing was executed and nothing will be. 410 for an id from which deposits and withdrawals are no longer kept (years) proves nothing. Creations, registrations, changes and review decisions are not recorded here.",
  returns: "The operation and its outcome.",
  params: { operation_id: operationId },
  query: { wait: optional(wait("the outcome is final")) },
  reply: OperationReply,
  refusals: ["operation_not_found", "operation_removed"],

  call: (deps, { operationId: id }, { poll }) =>
    poll.until(async (context) => {
      const operation = await findOperation(deps, id, context);
      const [shown = operation] = await withLegs(deps, [operation], context);
      return shown;
    }, isFinal),
});

export const cancelOperation = route("DELETE /api/v1/operations/:operation_id", {
  scope: "funds:withdraw",
  orScopes: ["subscriptions:write"],
  summary: "Cancel an operation that waits",
  description:
    "Ends a withdrawal (scope `funds:withdraw`) or unassign (scope `subscriptions:write`) that waits until its Master is flat, and returns it with `refusal` `cancelled`. An operation that was cancelled before is returned again. 409 when it was never queued, has begun or has ended.",
  returns: "The operation: nothing of it was executed, and nothing will be.",
  params: { operation_id: operationId },
  reply: OperationReply,
  lookUp:
    "Repeat it with the same Idempotency-Key. GET /api/v1/operations/{operation_id} shows what became of the operation.",
  refusals: ["operation_not_found", "operation_removed", "operation_not_cancellable"],

  async call(deps, { operationId: id }, context) {
    const { operationId, action } = await findOperation(deps, id, context);
    const isMoney = action === OperationAction.DEPOSIT || action === OperationAction.WITHDRAW;
    // A key cancels only what it could have sent, at the service that has recorded it.
    demandScope(context.key, [isMoney ? "funds:withdraw" : "subscriptions:write"]);
    return await (isMoney ? deps.funding : deps.subscriptions).cancelOperation({ operationId }, context);
  },
});
