import { createHash } from "node:crypto";
import { v7 as uuidv7 } from "uuid";
import type { ClaimedClosing } from "../../store/closings.ts";
import type { Command } from "../exit/claim-try.ts";

/** A closing tries again until the Investor has left, so its operation is pending until then. */
const UNTIL_IT_LEFT = new Date("9999-12-31T00:00:00Z");

/**
 * The command under which an Investor leaves a Master that is being closed: the same in each try, and after a crash. No caller has sent it; the
 * ledger lists it at the time of the request that closes the Master.
 */
export function exitCommandOf({ masterLogin, requestedAt }: ClaimedClosing, subscriptionId: bigint): Command {
  const random = createHash("sha256").update(`closing ${masterLogin} ${subscriptionId}`).digest();
  const commandId = uuidv7({ msecs: requestedAt.getTime(), seq: random.readUInt32BE(16), random });
  return { commandId, at: requestedAt, deadlineAt: UNTIL_IT_LEFT };
}
