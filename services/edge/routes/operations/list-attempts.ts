import { Type } from "typebox";
import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { MAX_TRANSFER_KEYS } from "#kernel/limits.ts";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import { isTransientFailure } from "#kernel/transient-failure.ts";
import { OperationAction, type Operation } from "#proto/pamm/funding/v1/funding.ts";
import { attemptItem, AttemptList } from "../../schemas/attempt.ts";
import { operationId } from "../../schemas/request-fields.ts";
import { type Deps, route } from "../../route.ts";
import { findOperation } from "./find-operation.ts";
import { READERS } from "./readers.ts";

/** What is found out later than this is missing, so that the attempts that are known are answered within the time limit of the request. */
const READ_KEYS_MS = 2_000;

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
    const { keys, isComplete } = await keysOf(deps, operation, context);
    if (keys.length === 0) return { items: [], is_complete: isComplete };
    const { attempts } = await deps.platform.readAttempts({ keys: keys.slice(0, MAX_PAGE_SIZE) }, context);
    return { items: attempts.map(attemptItem), is_complete: isComplete };
  },
});

type Keys = { readonly keys: string[]; readonly isComplete: boolean };

/** Of the transfers of the operation: its own, those of its fees, and the mirrors of a deposit. */
async function keysOf(deps: Deps, { action, feeKey, transferKeys }: Operation, context: CallContext): Promise<Keys> {
  const own = transferKeys.slice(0, MAX_TRANSFER_KEYS);
  const within = childContext(context, { withinMs: READ_KEYS_MS });
  const found = await Promise.all([
    feeKey === "" ? [] : dueKeys(deps, feeKey, within).catch(unlessUnreachable),
    action === OperationAction.DEPOSIT && own.length > 0 ? mirrorKeys(deps, own, within).catch(unlessUnreachable) : [],
  ]);
  const others = found.flatMap((keys) => keys ?? []);
  return { keys: [...new Set([...own, ...others])], isComplete: found.every((keys) => keys !== undefined) };
}

async function dueKeys({ fees }: Deps, feeKey: string, context: CallContext): Promise<string[]> {
  const { decided } = await fees.findDueItems({ keys: [feeKey] }, context);
  return decided.flatMap(({ items }) => items.map(({ key }) => key)).slice(0, MAX_TRANSFER_KEYS);
}

async function mirrorKeys({ subscriptions }: Deps, keys: string[], context: CallContext): Promise<string[]> {
  const { items } = await subscriptions.findMirrors({ keys }, context);
  return items.flatMap(({ mirrorKey }) => mirrorKey ?? []);
}

function unlessUnreachable(error: unknown): undefined {
  if (!isTransientFailure(error)) throw error;
  return undefined;
}
