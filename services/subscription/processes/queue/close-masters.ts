import { v7 as uuidv7 } from "uuid";
import type { Deps } from "../../deps.ts";
import { archiveClosed, listOpenClosings, queueLeavers } from "../../store/closings.ts";

/**
 * Queues unassigns of the next Investors of each Master that is being closed, as many as are tried at once: those of a large pool delay no other Master. Masters of which
 * nothing is left are archived. The ledger shows each unassign at the time of the request that closes the Master.
 */
export async function closeMasters({ pool, now, log }: Deps, atOnce: number): Promise<void> {
  for (const closing of await listOpenClosings(pool)) {
    const msecs = closing.requestedAt.getTime();
    await queueLeavers(
      pool,
      closing,
      Array.from({ length: atOnce }, () => uuidv7({ msecs })),
    );
  }
  for (const login of await archiveClosed(pool, now())) log.info("Master archived", { login });
}
