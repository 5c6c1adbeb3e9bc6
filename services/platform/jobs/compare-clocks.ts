import type { Deps } from "../deps.ts";
import { platformClockDiffers } from "../metrics.ts";
import { Mt5Error } from "../mt5/errors.ts";

/** Notices a platform's clock that is not in its zone, or differs from the local one, also while no deal is read. */
export async function compareClocks({ mt5, log }: Pick<Deps, "mt5" | "log">): Promise<boolean> {
  try {
    await mt5.serverClock();
    platformClockDiffers.set(0);
  } catch (error) {
    if (!(error instanceof Mt5Error) || error.problem !== "clock_differs") throw error;
    platformClockDiffers.set(1);
    log.error("clock of the trading platform differs, no deal is read until operators have corrected it", { error });
  }
  return false;
}
