import type { CallContext } from "#kernel/contract/contract.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { later, reasonOf } from "#kernel/retry.ts";
import type { Deps } from "../../deps.ts";
import { cutOffsDue, lastCutOff, type Week } from "../../domain/weeks.ts";
import { lockMaster, type Master } from "../../store/masters.ts";
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

/**
 * Reads a Master and does what needs its marks at that log position: closes the weeks that have ended, issues units for
 * waiting money and redeems units of outflows. A failure is recorded on the row and retried after a pause.
 */
export async function markMaster(deps: Deps, login: string, context: CallContext): Promise<void> {
  const reason = await tryToMark(deps, { login, isValuation: false }, context).catch((error: unknown) => {
    deps.log.info("Master not marked, retry scheduled", { login, error });
    return reasonOf(error);
  });
  if (reason === undefined) return await resetMarkTries(deps.pool, login);
  await countFailedMark(deps.pool, login, reason);
}

/** Reads a Master as `markMaster` does, so that its pool is valued. Throws when it cannot be read. */
export async function valueMaster(deps: Deps, login: string, context: CallContext): Promise<void> {
  await tryToMark(deps, { login, isValuation: true }, context);
}

/** Undefined when nothing is left to do or allowed; else the reason for a retry. */
async function tryToMark(deps: Deps, wanted: Wanted, context: CallContext): Promise<string | undefined> {
  const { login } = wanted;
  let reads = 0;
  for (let commits = 0; commits < MAX_COMMITS; commits += 1) {
    const reading = await readMaster(deps, login, context, await hasFlowsToStrike(deps.pool, login));
    const end = reading.isComplete
      ? await inTransaction(deps.pool, (tx) => markAtLogPosition(tx, deps, wanted, reading))
      : ({ kind: "moved", why: "the Master's latest deals are still being read" } as const);
    if (end.kind === "done") return undefined;
    if (end.kind === "waits") return end.why;
    if (end.kind === "moved" && (reads += 1) === MAX_READS) return end.why;
  }
  return "the backlog of deals is long";
}

type Wanted = {
  readonly login: string;
  /** The pool is valued also when nothing else needs its marks. */
  readonly isValuation: boolean;
};

type End =
  | { readonly kind: "done" }
  /** The backlog continues with the next commit. */
  | { readonly kind: "more" }
  /** The Master has traded since the reading. */
  | { readonly kind: "moved"; readonly why: string }
  | { readonly kind: "waits"; readonly why: string };

async function markAtLogPosition(tx: Transaction, deps: Deps, wanted: Wanted, reading: MasterReading): Promise<End> {
  const { login, isValuation } = wanted;
  const { requestedAt, platformAt, logNumber, lastDealAt, marks, arePricesChecked, oldPrices } = reading;
  const master = await lockMaster(tx, login);
  if (master === undefined || master.stoppedReason !== null) return { kind: "done" };
  const closeThrough = lastCutOff(deps.week, later(platformAt, -waitAfterCutOff(deps.week)));
  const { ledger, end } = await openLedger(tx, deps, master, {
    through: logNumber,
    reading: { at: requestedAt, marks, closeThrough },
    isForStrike: true,
  });
  const isAtReading = end === "done" && master.filedNumber === logNumber;
  const saveUnstruck = async (): Promise<void> =>
    await saveLedger(tx, deps, isValuation && isAtReading ? await valueLedger(tx, deps, ledger, marks) : ledger);
  if (end !== "done" || isWeekDue(deps.week, ledger.master, lastDealAt) || !hasSomethingToStrike(ledger)) {
    await saveUnstruck();
    if (end === "full") return { kind: "more" };
    if (isClosingDue(deps, ledger.master)) {
      return { kind: "waits", why: "the clock of the trading platform has not passed the end of the week" };
    }
    // The job that closes weeks closes a week that has ended too recently for this reading.
    return { kind: "done" };
  }
  if (!isAtReading) {
    await saveUnstruck();
    return { kind: "moved", why: "the Master trades faster than it can be marked" };
  }
  if (!arePricesChecked) {
    await saveUnstruck();
    return { kind: "moved", why: "money joined or left while the Master was read" };
  }
  if (oldPrices !== undefined) {
    await saveUnstruck();
    await waitForPrice(tx, login, oldPrices, deps.now());
    return { kind: "done" };
  }
  const struck = await strikeLedger(tx, deps, ledger, marks);
  await saveLedger(tx, deps, struck ?? ledger);
  if (struck === undefined || !hasSomethingToStrike(struck)) return { kind: "done" };
  return { kind: "waits", why: "the pool has no value at which an Investor could join or leave" };
}

/** The week ended so long ago, by the local clock, that it should have been closed with this reading. */
function isClosingDue({ week, now }: Deps, { weeksClosedThrough }: Master): boolean {
  const through = later(now(), -waitAfterCutOff(week));
  return weeksClosedThrough !== null && cutOffsDue(week, weeksClosedThrough, through, 1).length > 0;
}

/**
 * A week that ended before the latest deal is closed first: money that joins or leaves after a cut-off must not count in the week before it.
 * All money that waits has come before a week that ended since, so it does not wait for the close of that week.
 */
function isWeekDue(week: Week, { weeksClosedThrough }: Master, lastDealAt: Date | undefined): boolean {
  if (weeksClosedThrough === null || lastDealAt === undefined) return false;
  return cutOffsDue(week, weeksClosedThrough, lastDealAt, 1).length > 0;
}
