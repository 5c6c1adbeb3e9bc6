import { Type } from "typebox";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { Operation } from "#proto/pamm/funding/v1/funding.ts";
import { operationId, wait } from "../../schemas/request-fields.ts";
import { isFinal, OperationReply, operationReply } from "../../schemas/operation.ts";
import { route } from "../../route.ts";
import { findOperation } from "./find-operation.ts";
import { READERS } from "./readers.ts";
import { withLegs } from "./with-legs.ts";

export const getOperation = route({
  method: "GET",
  url: "/api/v1/operations/:operation_id",
  ...READERS,
  class: "read",
  tag: "Operations",
  summary: "Ask what became of an operation",
  description:
    "Whether a deposit, withdrawal, assign or unassign happened, by the X-Operation-Id of its answer. While the platform's books cannot be asked it tells what it knows. An id of one of these that is not found is not on record: 10 seconds after its last request that proves that nothing happened and nothing will. Other commands are not kept here.",
  params: Type.Object({ operation_id: operationId }),
  query: Type.Object({ wait: Type.Optional(wait("the outcome is final")) }),
  reply: OperationReply,
  refusals: ["operation_not_found"],

  async handle(deps, { params }, { waiting }) {
    const look = async (context: CallContext): Promise<Operation> => {
      const operation = await findOperation(deps, params.operation_id, context);
      const [shown = operation] = await withLegs(deps, [operation], context);
      return shown;
    };
    return operationReply(await waiting.until(look, isFinal));
  },
});
