import type { CallContext } from "#kernel/contract/contract.ts";
import type { Deps } from "../../deps.ts";
import { type MasterReading, masterReading } from "../../messages/marks.ts";
import { catchUp } from "../filing/catch-up.ts";

export type { MasterReading } from "../../messages/marks.ts";

/** The log of the Master is filed up to the reading. With `checksPrices`, for a strike with open positions: a week is closed at whatever the last prices are. */
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
