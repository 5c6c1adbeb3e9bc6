import type { CallContext } from "#kernel/contract/contract.ts";
import { readDatabase } from "#kernel/postgres/database-identity.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { reasonOf } from "#kernel/jobs/retry.ts";
import { PermitState, type TransferRequest, type TransferResult } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { saveGeneration } from "../store/permit-generation.ts";

/** Requests transfers, or reads their outcome, because a key is executed once: each as platform has recorded it, or why it has no answer. */
export async function requestTransfers(
  deps: Pick<Deps, "pool" | "platform" | "log">,
  requests: readonly TransferRequest[],
  context: CallContext,
): Promise<(TransferResult | string)[]> {
  try {
    const { answers } = await deps.platform.transferBatch({ requests: [...requests] }, context);
    const results = requests.map((_, index) => {
      const answer = answers[index]?.answer;
      return answer?.$case === "result" ? answer.value : (answer?.value.code ?? "no answer");
    });
    await followGeneration(
      deps,
      results.filter((result) => typeof result === "object"),
      context,
    );
    return results;
  } catch (error) {
    deps.log.info("transfers not answered, retry scheduled", { count: requests.length, error });
    return requests.map(() => reasonOf(error));
  }
}

/**
 * Amounts are calculated in the generation in which permits are granted, as soon as a transfer was refused because it is of another one. They are granted
 * when what was lost with an earlier database is in the books, so an amount that names the generation was calculated from these.
 */
export async function followGeneration(
  { pool, platform }: Pick<Deps, "pool" | "platform">,
  results: readonly Pick<TransferResult, "refusalCode">[],
  context: CallContext,
): Promise<void> {
  if (!results.some(({ refusalCode }) => refusalCode === "outdated")) return;
  const database = await readDatabase(pool);
  const { state, generation } = await platform.getPermits({}, context);
  if (state !== PermitState.GRANTED) return;
  await inTransaction(pool, async (tx) => {
    // An answer of before a restore would be taken for a generation of this database.
    if ((await readDatabase(tx)) === database) await saveGeneration(tx, generation);
  });
}
