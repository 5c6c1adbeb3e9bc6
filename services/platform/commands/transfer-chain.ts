import type { CallContext } from "#kernel/contract/contract.ts";
import {
  type TransferAnswer,
  type TransferChainRequest,
  type TransferChainResponse,
  type TransferRequest,
  TransferState,
} from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import type { OrderRequest } from "../protocol/permit-requests.ts";
import type { Turn } from "../protocol/sending.ts";
import { readTransferOrder } from "../protocol/transfer-order.ts";
import { executeOrder } from "./transfer.ts";
import { answerOf, requireBatch } from "./transfer-batch.ts";

/** Nothing of such a transfer is recorded, and the next one does not depend on it. */
const WITHOUT_RECORD = new Set(["account_archived", "lock_not_owned"]);
const { APPLIED, REFUSED } = TransferState;

/**
 * The transfers of one saga, each when the one before has its outcome: the answers end with the first one that has none yet. What follows an applied
 * one is recorded and permitted in the commit of its answer.
 */
export async function transferChain(
  deps: Deps,
  { requests }: TransferChainRequest,
  context: CallContext,
): Promise<TransferChainResponse> {
  requireBatch(requests);
  requireOneLock(requests);
  const answers: TransferAnswer[] = [];
  let turn: Turn | undefined;
  try {
    for (let request = chained(requests, context); request !== undefined; request = request.next) {
      const present = request;
      const begun = turn;
      turn = undefined;
      const answer = await answerOf(deps, present.order, async () => {
        const executed = await executeOrder(deps, present, context, begun);
        turn = executed.next;
        return executed.result;
      });
      answers.push(answer);
      if (!isOver(answer)) break;
    }
  } finally {
    // No caller waits for credits: they are sent by the job, after what the caller waits for.
    deps.legsSignal.notify();
  }
  return { answers };
}

/** The first of them; each names the one that follows. */
function chained(requests: readonly TransferRequest[], { requestId }: CallContext): OrderRequest | undefined {
  const orders = requests.map(readTransferOrder);
  return orders.reduceRight<OrderRequest | undefined>(
    (next, order) => ({ kind: "order", order, requestId, next }),
    undefined,
  );
}

function requireOneLock(requests: readonly TransferRequest[]): void {
  const [first] = requests;
  const isRight = requests.every(
    ({ lockOwner, legs }) =>
      lockOwner !== "" && lockOwner === first?.lockOwner && legs[0]?.login === first.legs[0]?.login,
  );
  if (isRight) return;
  throw refuse("validation_failed", "The transfers of a chain move one account, under one account lock.", {
    outcome: "not_executed",
  });
}

function isOver({ answer }: TransferAnswer): boolean {
  if (answer?.$case === "refusal") return WITHOUT_RECORD.has(answer.value.code);
  const state = answer?.value.legs[0]?.state;
  return state === APPLIED || state === REFUSED;
}
