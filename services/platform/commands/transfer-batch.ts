import { concurrently } from "#kernel/batches/concurrently.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { refusalToProto } from "#kernel/contract/error.ts";
import { refuse as refuseFault } from "#kernel/contract/refusals.ts";
import type { Log } from "#kernel/process/log.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import type {
  TransferAnswer,
  TransferBatchRequest,
  TransferBatchResponse,
  TransferRequest,
  TransferResult,
} from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { transfer } from "./transfer.ts";

/** The contract states it too. All transfers of a batch are in memory, and are answered within one deadline. */
const MAX_REQUESTS = 500;
/** Transfers of one batch in progress at once: several sets of permits, and room for other callers in the queue. */
const MAX_CONCURRENT = 128;

/** Many transfers, each with the same result as a single Transfer: all transfers that wait share commits and sessions. */
export async function transferBatch(
  deps: Deps,
  { requests }: TransferBatchRequest,
  context: CallContext,
): Promise<TransferBatchResponse> {
  requireBatch(requests);
  const answers: TransferAnswer[] = [];
  // Transfers of one login are executed in their order: some are refused rather than queued behind another one.
  const queue = Map.groupBy(requests.entries(), ([, { legs }]) => legs[0]?.login).values();
  await concurrently(queue, MAX_CONCURRENT, async (ofLogin) => {
    for (const [index, request] of ofLogin) {
      answers[index] = await answerOf(deps, request, () => transfer(deps, request, context));
    }
  });
  return { answers };
}

export function requireBatch(requests: readonly TransferRequest[]): void {
  const isRight = requests.length >= 1 && requests.length <= MAX_REQUESTS;
  if (!isRight) {
    throw refuse("validation_failed", `A batch has 1 to ${MAX_REQUESTS} transfers.`, { outcome: "not_executed" });
  }
  if (new Set(requests.map(({ key }) => key)).size === requests.length) return;
  throw refuse("validation_failed", "Each transfer of a batch needs its own key.", { outcome: "not_executed" });
}

/** The result, or the refusal. */
export async function answerOf(
  { log }: Pick<Deps, "log">,
  { key }: Pick<TransferRequest, "key">,
  result: () => Promise<TransferResult>,
): Promise<TransferAnswer> {
  try {
    return { answer: { $case: "result", value: await result() } };
  } catch (error) {
    const refusal = error instanceof Refusal ? error : fault(log, key, error);
    return { answer: { $case: "refusal", value: refusalToProto(refusal) } };
  }
}

/** A fault of one transfer does not affect the others; its outcome is unknown until its key is requested again. */
function fault(log: Log, key: string, error: unknown): Refusal {
  log.error("transfer of a batch failed, outcome unknown until its key is requested again, report this defect", {
    key,
    error,
  });
  return refuseFault("internal", "internal error", { outcome: "unknown" });
}
