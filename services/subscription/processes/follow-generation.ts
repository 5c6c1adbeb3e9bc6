import type { CallContext } from "#kernel/contract/contract.ts";
import { readDatabase } from "#kernel/postgres/database-identity.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { PermitState, type TransferResult } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { saveGeneration } from "../store/permit-generation.ts";

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
