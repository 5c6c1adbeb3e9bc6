import type { CallContext } from "#kernel/contract/contract.ts";
import type { ReadAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import type { Mark } from "../../domain/pool/strike-pool.ts";
import { marksOf, oldPricesText } from "../../messages/marks.ts";
import { catchUp } from "../filing/catch-up.ts";

/** The open positions of a Master at a log position; its log is filed up to there. */
export type MasterReading = {
  readonly login: string;
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
  /** Whether it was asked if the prices of the positions are recent enough for a strike; if so, why they are not. */
  readonly arePricesChecked: boolean;
  readonly oldPrices: string | undefined;
};

/** With `checksPrices`, for a strike with open positions: a week is closed at whatever the last prices are. */
export async function readMaster(
  deps: Deps,
  login: string,
  context: CallContext,
  checksPrices = false,
): Promise<MasterReading> {
  const requestedAt = deps.now();
  const answer = await deps.platform.readAccount({ login, checkPrices: checksPrices }, context);
  const reading = masterReading(login, answer, { requestedAt, arePricesChecked: checksPrices });
  await catchUp(deps, { login, upTo: reading.logNumber }, context);
  return reading;
}

export function masterReading(
  login: string,
  { complete: isComplete, positions, logNumber, lastDealAt, platformAt, oldPrices }: ReadAccountResponse,
  { requestedAt, arePricesChecked }: Pick<MasterReading, "requestedAt" | "arePricesChecked">,
): MasterReading {
  return {
    login,
    requestedAt,
    platformAt: platformAt ?? requestedAt,
    logNumber,
    lastDealAt,
    isComplete,
    marks: marksOf(positions),
    arePricesChecked,
    oldPrices: oldPricesText(oldPrices),
  };
}
