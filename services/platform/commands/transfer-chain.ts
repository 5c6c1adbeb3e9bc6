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
import { answerOf, requireBatch } from "./transfer-batch.ts";

/** Nothing of such a transfer is recorded, and the next one does not depend on it. */
const WITHOUT_RECORD = new Set(["account_archived", "lock_not_owned"]);
const { APPLIED, REFUSED } = TransferState;

/** The transfers of one saga, each when the one before has its outcome: the answers end with the first one that has none yet. */
export async function transferChain(
  deps: Deps,
  { requests }: TransferChainRequest,
  context: CallContext,
): Promise<TransferChainResponse> {
  requireBatch(requests);
  requireOneLock(requests);
  const answers: TransferAnswer[] = [];
  try {
    for (const request of requests) {
      const answer = await answerOf(deps, request, context);
      answers.push(answer);
      if (!isOver(answer)) break;
    }
  } finally {
    // No caller waits for credits: they are sent by the job, after what the caller waits for.
    deps.legsSignal.notify();
  }
  return { answers };
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
