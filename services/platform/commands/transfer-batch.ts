import type { CallContext } from "#kernel/contract/contract.ts";
import { refusalToProto } from "#kernel/contract/error.ts";
import { Refusal } from "#kernel/refusal.ts";
import type {
  TransferAnswer,
  TransferBatchRequest,
  TransferBatchResponse,
  TransferRequest,
} from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { transfer } from "./transfer.ts";

const MAX_REQUESTS = 500;
const MAX_CONCURRENT = 8;

/** Many transfers, each exactly as if it had come alone. */
export async function transferBatch(
  deps: Deps,
  { requests }: TransferBatchRequest,
  context: CallContext,
): Promise<TransferBatchResponse> {
  if (requests.length < 1 || requests.length > MAX_REQUESTS) {
    throw refuse("validation_failed", `1 to ${MAX_REQUESTS} transfers`, { outcome: "not_executed" });
  }
  if (new Set(requests.map(({ key }) => key)).size < requests.length) {
    throw refuse("validation_failed", "every transfer has a key of its own", { outcome: "not_executed" });
  }
  const answers: TransferAnswer[] = [];
  const queue = requests.entries();
  const worker = async (): Promise<void> => {
    for (const [index, request] of queue) answers[index] = await answerOne(deps, request, context);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker));
  return { answers };
}

async function answerOne(deps: Deps, request: TransferRequest, context: CallContext): Promise<TransferAnswer> {
  try {
    return { answer: { $case: "result", value: await transfer(deps, request, context) } };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { answer: { $case: "refusal", value: refusalToProto(error) } };
  }
}
