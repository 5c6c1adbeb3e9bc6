import { setTimeout as delay } from "node:timers/promises";
import type { Deps } from "../deps.ts";
import { shownWithinMs } from "../domain/next-scan.ts";
import { CLOCK_WINDOW_MS } from "../mt5/server-clock.ts";
import { fileHistory } from "../protocol/history/read-history.ts";
import { findAccount } from "../store/accounts.ts";
import { listUnshownOfLogin } from "../store/amendments.ts";
import { readClock } from "../store/clock.ts";
import { CONFIRM_AFTER_MS, reportMissing } from "./deleted-deals.ts";

/** Missing deals that one read requests; the others are missed by the next one. */
const MAX_REQUESTED = 50;

/**
 * Reads the whole history of a login whose log is not its balance: files what no log has, such as a deal that was dated back or first
 * shown late, and reports deals of the log that were amended or deleted.
 */
export async function readWholeLogin(deps: Deps, login: string): Promise<void> {
  const { pool, mt5, settings } = deps;
  const account = await findAccount(pool, login);
  if (account === undefined) return;
  const { readsFrom: from } = account;
  const nowMs = await readClock(pool);
  const shown = await mt5.readDeals(login, { from, to: new Date(nowMs + CLOCK_WINDOW_MS) });
  await fileHistory(deps, shown, { since: from, from, isWhole: true }, [login]);
  const missing = await listUnshownOfLogin(pool, settings.server, login, {
    before: new Date(nowMs - shownWithinMs(settings.quietPeriodMs)),
    shown: shown.map(({ ticket }) => ticket),
    limit: MAX_REQUESTED,
  });
  if (missing.length === 0) return;
  await delay(CONFIRM_AFTER_MS);
  await reportMissing(deps, missing);
}
