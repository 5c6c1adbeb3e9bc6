import { catchUp } from "../processes/filing/catch-up.ts";
import { jobContext } from "../processes/deadlines.ts";
import type { Deps } from "../deps.ts";
import { listGaps } from "../store/filed-numbers.ts";

const LOGINS_PER_ROUND = 50;

/** Reads what is missing before an entry that was heard of too early. One login that cannot be read stops no other. */
export async function readGaps(deps: Deps): Promise<boolean> {
  const gaps = await listGaps(deps.pool, LOGINS_PER_ROUND);
  let closed = 0;
  for (const { login, receivedNumber } of gaps) {
    try {
      await catchUp(deps, { login, upTo: receivedNumber }, jobContext());
      closed += 1;
    } catch (error) {
      deps.log.warn("a gap in a log could not be read", { login, error });
    }
  }
  return closed === LOGINS_PER_ROUND;
}
