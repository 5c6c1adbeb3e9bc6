import { inSnapshot } from "#kernel/postgres/snapshot.ts";
import type { FindTermsRequest, FindTermsResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { feesUnknown } from "../domain/fees-unknown.ts";
import { refuse } from "../refusals.ts";
import { findKnownDatabase } from "../store/fee-search.ts";
import { findMaster } from "../store/masters.ts";
import { readTerms } from "./read-terms.ts";

const MAX_INVESTORS = 500;

/** Everything that a decision about the fees of some Investors is based on, in one snapshot and without a lock. */
export async function findTerms(
  { pool }: Pick<Deps, "pool">,
  { masterLogin, investors: wanted }: FindTermsRequest,
): Promise<FindTermsResponse> {
  if (wanted.length > MAX_INVESTORS) {
    throw refuse("validation_failed", `A request has at most ${MAX_INVESTORS} Investors.`);
  }
  return await inSnapshot(pool, async (db) => {
    const known = await findKnownDatabase(db);
    if (known === undefined) throw feesUnknown();
    const master = masterLogin === "" ? undefined : await findMaster(db, masterLogin);
    const investors = await readTerms(db, wanted);
    return { ...known, isStopped: master?.breakReason !== undefined, investors };
  });
}
