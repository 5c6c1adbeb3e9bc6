import { Type } from "typebox";
import { operationId, wait } from "../schemas/request-fields.ts";
import { isFinal, OperationReply } from "../schemas/operation.ts";
import { route } from "../../http/route.ts";
import { findOperation } from "./find-operation.ts";
import { READERS } from "./readers.ts";
import { withLegs } from "./with-legs.ts";

export const getOperation = route({
  operationId: "getOperation",
  method: "GET",
  url: "/api/v1/operations/:operation_id",
  ...READERS,
  class: "read",
  tag: "Operations",
  summary: "Get an operation",
  description:
    "Returns the outcome of a deposit, withdrawal, assign or unassign by its X-Operation-Id. Legs are omitted while they cannot be read. 404 for an id more than 10 seconds after its last request proves that nothing was executed and nothing will be. 410 for an id from which deposits and withdrawals are no longer kept (years) proves nothing. Creations, registrations, changes and review decisions are not recorded here.",
  returns: "The operation and its outcome.",
  params: Type.Object({ operation_id: operationId }),
  query: Type.Object({ wait: Type.Optional(wait("the outcome is final")) }),
  reply: OperationReply,
  refusals: ["operation_not_found", "operation_removed"],

  call: (deps, { operationId: id }, { poll }) =>
    poll.until(async (context) => {
      const operation = await findOperation(deps, id, context);
      const [shown = operation] = await withLegs(deps, [operation], context);
      return shown;
    }, isFinal),
});
