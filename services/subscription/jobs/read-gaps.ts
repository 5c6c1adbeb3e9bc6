import { catchUp } from "../processes/filing/catch-up.ts";
import { jobContext } from "../processes/deadlines.ts";
import type { Deps } from "../deps.ts";
import { listGaps } from "../store/filed-numbers.ts";

/** Logins of one run, read one after the other, because gaps are rare. */
const LOGINS_PER_RUN = 50;

/** Reads the entries that are missing before a received entry. A failure on one login does not stop the others. */
export async function readGaps(deps: Deps): Promise<boolean> {
  const gaps = await listGaps(deps.pool, LOGINS_PER_RUN);
  let closed = 0;
  for (const { login, receivedNumber } of gaps) {
    try {
      await catchUp(deps, { login, upTo: receivedNumber }, jobContext());
      closed += 1;
    } catch (error) {
      deps.log.info("gap in log not read, retry scheduled", { login, error });
    }
  }
  return closed === LOGINS_PER_RUN;
}
