import type { Deps } from "../deps.ts";
import { accepts } from "../domain/leg-machine.ts";
import { findAttempt } from "../store/attempts.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { recordNow, type Recorder } from "./record-now.ts";

/** Voids a permit whose commit has an unknown outcome: only the batch that was given this session could have used it, and it wrote nothing. */
export async function voidUnsent(
  deps: Recorder & Pick<Deps, "sender">,
  leg: RecordedLeg,
  sessionId: string,
): Promise<void> {
  if (!accepts(leg.status, "not_sent")) return;
  const { attempt } = leg.status;
  const permitted = await findAttempt(deps.pool, leg.number, attempt);
  const isOurs = permitted?.senderEpoch === deps.sender.epoch && permitted.session === sessionId;
  if (isOurs) await recordNow(deps, leg, { type: "not_sent", attempt });
}
