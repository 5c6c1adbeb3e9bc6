import { Type } from "typebox";
import { childContext } from "#kernel/contract/context.ts";
import { AttemptList } from "../schemas/attempt.ts";
import { operationId } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";
import { findOperation } from "./find-operation.ts";
import { keysOf, READ_MOVEMENTS_MS, readMovements } from "./read-movements.ts";
import { READERS } from "./readers.ts";

export const listAttempts = route({
  operationId: "listAttempts",
  method: "GET",
  url: "/api/v1/operations/:operation_id/attempts",
  ...READERS,
  class: "read",
  tag: "Operations",
  summary: "List the attempts of an operation",
  description:
    "What was written to the trading platform for an operation, and what came back: each send of each movement, oldest first. A movement is sent again only when it is proven that the send before it was not executed. Attempts of movements that have ended are kept for 180 days, unless the operator keeps them longer. A movement that was never sent has none.",
  returns: "The attempts of the operation.",
  params: Type.Object({ operation_id: operationId }),
  reply: AttemptList,
  refusals: ["operation_not_found", "operation_removed"],

  async call(deps, { operationId: id }, context) {
    const operation = await findOperation(deps, id, context);
    const within = childContext(context, { withinMs: READ_MOVEMENTS_MS });
    const { found, unreachable } = await readMovements(deps, [operation], within);
    const keys = keysOf(found);
    const { attempts } = keys.length === 0 ? { attempts: [] } : await deps.platform.readAttempts({ keys }, context);
    return { items: attempts, isComplete: unreachable.length === 0 };
  },
});
