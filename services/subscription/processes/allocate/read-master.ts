import type { CallContext } from "#kernel/contract/contract.ts";
import type { Deps } from "../../deps.ts";
import type { Mark } from "../../domain/pool/strike-pool.ts";
import { marksOf } from "../../messages/marks.ts";
import { catchUp } from "../filing/catch-up.ts";

/** The open positions of a Master at a log position; its log is filed up to there. */
export type MasterReading = {
  /** The time just before the request. */
  readonly requestedAt: Date;
  /** The clock of the trading platform at that time: all deals up to then are at or before the log position, or arrive soon. */
  readonly platformAt: Date;
  readonly logNumber: bigint;
  /** The latest time of a deal up to there; undefined without one. */
  readonly lastDealAt: Date | undefined;
  /** Balance and open positions equal those computed from the log. */
  readonly isComplete: boolean;
  readonly marks: readonly Mark[];
};

export async function readMaster(deps: Deps, login: string, context: CallContext): Promise<MasterReading> {
  const requestedAt = deps.now();
  const {
    complete: isComplete,
    positions,
    logNumber,
    lastDealAt,
    platformAt = requestedAt,
  } = await deps.platform.readAccount({ login }, context);
  await catchUp(deps, { login, upTo: logNumber }, context);
  return { requestedAt, platformAt, logNumber, lastDealAt, isComplete, marks: marksOf(positions) };
}
