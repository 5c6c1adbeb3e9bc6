import { catchUp } from "../processes/filing/catch-up.ts";
import { jobContext } from "../processes/deadlines.ts";
import type { Deps } from "../deps.ts";
import { listGaps } from "../store/filed-numbers.ts";

/** Gaps are rare; they are closed one after the other. */
const LOGINS_PER_ROUND = 50;

/** Reads the entries missing before one received out of order. A failure on one login does not stop the others. */
export async function readGaps(deps: Deps): Promise<boolean> {
  const gaps = await listGaps(deps.pool, LOGINS_PER_ROUND);
  let closed = 0;
  for (const { login, receivedNumber } of gaps) {
    try {
      await catchUp(deps, { login, upTo: receivedNumber }, jobContext());
      closed += 1;
    } catch (error) {
      deps.log.info("gap in log not read, retry scheduled", { login, error });
    }
  }
  return closed === LOGINS_PER_ROUND;
}
