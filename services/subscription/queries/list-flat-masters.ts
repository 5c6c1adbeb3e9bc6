import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import type { ListFlatMastersRequest, ListFlatMastersResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { validate, wrong } from "../domain/validate.ts";
import { listFlat } from "../store/flat-masters.ts";

/** Read from the books, so that many commands that wait cost no call of the trading platform; a try decides everything anew. */
export async function listFlatMasters(
  { pool }: Pick<Deps, "pool">,
  { masterLogins }: ListFlatMastersRequest,
): Promise<ListFlatMastersResponse> {
  const isTooMany = masterLogins.length > MAX_PAGE_SIZE;
  validate(isTooMany ? wrong("master_logins", "too_many", `must be at most ${MAX_PAGE_SIZE}`) : undefined);
  return { masterLogins: await listFlat(pool, masterLogins) };
}
