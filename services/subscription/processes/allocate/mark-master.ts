import type { CallContext } from "#kernel/contract/contract.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { later, reasonOf } from "#kernel/jobs/retry.ts";
import type { Deps } from "../../deps.ts";
import { lastCutOff, nextCutOff, type Week } from "../../domain/weeks.ts";
import { lockMaster } from "../../store/masters.ts";
import { countFailedMark, hasFlowsToStrike, resetMarkTries } from "../../store/marking.ts";
import { waitForPrice } from "../../store/market-waits.ts";
import { hasSomethingToStrike, openLedger, saveLedger, strikeLedger, valueLedger } from "./ledger.ts";
import { type MasterReading, readMaster } from "./read-master.ts";

/** How often in a row the Master is read again at once because it traded between the reading and the commit. */
const MAX_READS = 3;
/** Commits of one backlog, each of thousands of rows. */
const MAX_COMMITS = 100;
/** After a cut-off: deals arrive within a second or two. A share of the period keeps short periods of tests usable. */
const MAX_WAIT_MS = 5_000;
const WAITS_PER_PERIOD = 20;

/** How long after a cut-off the trading platform may still report deals from before it, in ms. */
export function waitAfterCutOff({ periodMs }: Week): number {
  return Math.min(MAX_WAIT_MS, periodMs / WAITS_PER_PERIOD);
}

/** The latest cut-off that is long enough before an instant. */
export function lastToClose(week: Week, at: Date): Date {
  return lastCutOff(week, later(at, -waitAfterCutOff(week)));
}

/**
 * Reads a Master and does what needs its marks at that log position: closes the weeks that have ended, issues units for
 * waiting money and redeems units of outflows. A failure is recorded on the row and retried after a pause.
 */
export async function markMaster(deps: Deps, login: string, context: CallContext): Promise<void> {
  const reason = await tryToMark(deps, login, context).catch((error: unknown) => {
    deps.log.info("Master not marked, retry scheduled", { login, error });
    return reasonOf(error);
  });
  if (reason === undefined) return await resetMarkTries(deps.pool, login);
  await countFailedMark(deps.pool, login, reason);
}

/** Reads a Master as `markMaster` does, so that its pool is valued. Throws when it cannot be read. */
export async function valueMaster(deps: Deps, login: string, context: CallContext): Promise<void> {
  await tryToMark(deps, login, context, true);
}

/**
 * Undefined when nothing is left to do or allowed; else the reason for a retry. For a valuation the pool is valued also when nothing else
 * needs its marks.
 */
async function tryToMark(
  deps: Deps,
  login: string,
  context: CallContext,
  isValuation = false,
): Promise<string | undefined> {
  let reads = 0;
  for (let commits = 0; commits < MAX_COMMITS; commits += 1) {
    const reading = await readMaster(deps, login, context, await hasFlowsToStrike(deps.pool, login));
    const end = reading.isComplete
      ? await inTransaction(deps.pool, (tx) => markAtLogPosition(tx, deps, reading, isValuation))
      : ({ kind: "moved", why: "the Master's latest deals are still being read" } as const);
    if (end.kind === "done") return undefined;
    if (end.kind === "waits") return end.why;
    if (end.kind === "moved" && (reads += 1) === MAX_READS) return end.why;
  }
  return "the backlog of deals is long";
}

/** "more": the backlog continues with the next commit. "moved": the Master has traded since the reading. */
type End = { readonly kind: "done" | "more" } | { readonly kind: "moved" | "waits"; readonly why: string };

async function markAtLogPosition(
  tx: Transaction,
  deps: Deps,
  reading: MasterReading,
  isValuation: boolean,
): Promise<End> {
  const { week } = deps;
  const { login, requestedAt, platformAt, logNumber, lastDealAt, marks, arePricesChecked, oldPrices } = reading;
  const master = await lockMaster(tx, login);
  if (master === undefined || master.stoppedReason !== null) return { kind: "done" };
  const { ledger, end } = await openLedger(tx, deps, master, {
    through: logNumber,
    reading: { at: requestedAt, marks, closeThrough: lastToClose(week, platformAt) },
    isForStrike: true,
  });
  const isAtReading = end === "done" && master.filedNumber === logNumber;
  const endUnstruck = async (unstruck: End): Promise<End> => {
    await saveLedger(tx, deps, isValuation && isAtReading ? await valueLedger(tx, deps, ledger, marks) : ledger);
    return unstruck;
  };
  // Money that joins or leaves after a cut-off must not count in the week before it. All money that waits has come before a week that
  // ended after the latest deal, so it does not wait for the close of that week.
  const isWeekDue = nextCutOff(week, ledger.master.weeksClosedThrough, lastDealAt) !== undefined;
  if (end !== "done" || isWeekDue || !hasSomethingToStrike(ledger)) {
    if (end === "full") return await endUnstruck({ kind: "more" });
    // By the local clock the week ended so long ago that it should have been closed with this reading.
    const ended = nextCutOff(week, ledger.master.weeksClosedThrough, later(deps.now(), -waitAfterCutOff(week)));
    if (ended !== undefined) {
      return await endUnstruck({
        kind: "waits",
        why: "the clock of the trading platform has not passed the end of the week",
      });
    }
    // The job that closes weeks closes a week that has ended too recently for this reading.
    return await endUnstruck({ kind: "done" });
  }
  if (!isAtReading) return await endUnstruck({ kind: "moved", why: "the Master trades faster than it can be marked" });
  if (!arePricesChecked) {
    return await endUnstruck({ kind: "moved", why: "money joined or left while the Master was read" });
  }
  if (oldPrices !== undefined) {
    await waitForPrice(tx, login, oldPrices, deps.now());
    return await endUnstruck({ kind: "done" });
  }
  const struck = await strikeLedger(tx, deps, ledger, marks);
  await saveLedger(tx, deps, struck ?? ledger);
  if (struck === undefined || !hasSomethingToStrike(struck)) return { kind: "done" };
  return { kind: "waits", why: "the pool has no value at which an Investor could join or leave" };
}
