import { Type } from "typebox";
import { childContext } from "#kernel/contract/context.ts";
import { attemptItem, AttemptList } from "../schemas/attempt.ts";
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
  examples: [
    {
      name: "sent_twice",
      summary: "A deposit whose first send was lost",
      request: { params: { operation_id: "0198c0de-0000-7000-8000-000000000001" } },
      answer: {
        items: [
          {
            mt5_transfer_id: 4711,
            login: "3000003",
            kind: "deposit",
            amount: 250.5,
            number: 1,
            reference: "PD0F7K3M9Q2X1A",
            comment: "PD0F7K3M9Q2X1A CRM-2026-0001",
            state: "absent",
            permitted_at: "2026-01-02T03:04:05.678000",
            permit_expires_at: "2026-01-02T03:04:10.678000",
            ended_at: "2026-01-02T03:04:07.678000",
            answer_code: null,
            answer: "connection_lost",
            deal_id: null,
            searches: 2,
            searched_at: "2026-01-02T03:09:12.678000",
          },
          {
            mt5_transfer_id: 4711,
            login: "3000003",
            kind: "deposit",
            amount: 250.5,
            number: 2,
            reference: "PD0F7K3M9Q2X2B",
            comment: "PD0F7K3M9Q2X2B CRM-2026-0001",
            state: "applied",
            permitted_at: "2026-02-03T04:05:06.789000",
            permit_expires_at: "2026-02-03T04:05:11.789000",
            ended_at: "2026-02-03T04:05:07.789000",
            answer_code: 0,
            answer: null,
            deal_id: 1234567,
            searches: 0,
            searched_at: null,
          },
        ],
        is_complete: true,
      },
    },
  ],

  async handle(deps, { params }, context) {
    const operation = await findOperation(deps, params.operation_id, context);
    const within = childContext(context, { withinMs: READ_MOVEMENTS_MS });
    const { found, unreachable } = await readMovements(deps, [operation], within);
    const keys = keysOf(found);
    const { attempts } = keys.length === 0 ? { attempts: [] } : await deps.platform.readAttempts({ keys }, context);
    return { items: attempts.map(attemptItem), is_complete: unreachable.length === 0 };
  },
});
