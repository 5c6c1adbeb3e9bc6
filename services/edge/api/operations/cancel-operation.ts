import { Type } from "typebox";
import type { CallContext } from "#kernel/contract/contract.ts";
import { OperationAction, type Operation } from "#proto/pamm/funding/v1/funding.ts";
import type { Scope } from "../../wire/scopes.ts";
import { refuse } from "../../problems/refusals.ts";
import { operationId } from "../schemas/request-fields.ts";
import { OperationReply } from "../schemas/operation.ts";
import { type Deps, route, type RouteContext } from "../../http/route.ts";
import { findOperation } from "./find-operation.ts";

export const cancelOperation = route({
  operationId: "cancelOperation",
  method: "DELETE",
  url: "/api/v1/operations/:operation_id",
  scope: "funds:withdraw",
  orScopes: ["subscriptions:write"],
  class: "money",
  tag: "Operations",
  summary: "Cancel an operation that waits",
  description:
    "Ends a withdrawal (scope `funds:withdraw`) or unassign (scope `subscriptions:write`) that waits until its Master is flat, and returns it with `refusal` `cancelled`. An operation that was cancelled before is returned again. 409 when it was never queued, has begun or has ended.",
  returns: "The operation: nothing of it was executed, and nothing will be.",
  params: Type.Object({ operation_id: operationId }),
  reply: OperationReply,
  lookUp:
    "Repeat it with the same Idempotency-Key. GET /api/v1/operations/{operation_id} shows what became of the operation.",
  refusals: ["operation_not_found", "operation_removed", "operation_not_cancellable"],

  async call(deps, { operationId: id }, context) {
    const operation = await findOperation(deps, id, context);
    const cancel = cancelOf(deps, operation, context);
    return await cancel({ operationId: operation.operationId }, context);
  },
});

type Cancel = (request: { readonly operationId: string }, context: CallContext) => Promise<Operation>;

/** Of the service that has recorded the operation; refuses a key that could not have sent it. */
function cancelOf({ funding, subscriptions }: Deps, { action }: Operation, { key }: RouteContext): Cancel {
  const isMoney = action === OperationAction.DEPOSIT || action === OperationAction.WITHDRAW;
  const required: Scope = isMoney ? "funds:withdraw" : "subscriptions:write";
  if (!key.scopes.has(required)) {
    const message = `The API key lacks the scope ${required}.`;
    throw refuse("insufficient_scope", message, { details: { required_scope: required } });
  }
  return isMoney ? funding.cancelOperation : subscriptions.cancelOperation;
}
