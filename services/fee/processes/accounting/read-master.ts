import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { queryContext } from "#kernel/contract/deadlines.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { afterCommit, inTransaction } from "#kernel/postgres/transaction.ts";
import { openCase } from "#kernel/review/cases.ts";
import type { Deps } from "../../deps.ts";
import { type JournalBatch, positionAfter } from "../../domain/journal.ts";
import { insertBatch } from "../../store/journal.ts";
import { type FeeMaster, findMaster, insertMaster, lockWithOwed, moveRead, stopMaster } from "../../store/masters.ts";
import { requireKnownFees } from "../lost-fees/require-known-fees.ts";
import { type ClosedWeek, decideClosedWeek, openWeek } from "./decide-closed-week.ts";
import { UnreadableJournal } from "../../messages/journal.ts";
import { type JournalPage, readBatch, readPage } from "./read-batch.ts";
import { safetyStop } from "../../domain/safety-stop.ts";

/** Above every number of an entry. */
const NEWEST = 2n ** 63n - 1n;

export type ReadingLimits = { readonly untilMs?: number; readonly through?: bigint };

export type Reading = {
  /** The last entry that is in the journal with all its parts. */
  readonly number: bigint;
  /** Nothing more was there to read. */
  readonly isEnd: boolean;
};

/**
 * Reads a Master's allocations up to now into the journal, and decides each closed week in the transactions that record it.
 * Begins no further transaction after `untilMs`, a monotonic instant, and reads no entry after `through`. Safe in concurrent processes. Unreadable allocations
 * stop the Master.
 */
export async function readMaster(
  deps: Deps,
  masterLogin: string,
  context: CallContext,
  { untilMs = Infinity, through = NEWEST }: ReadingLimits = {},
): Promise<Reading> {
  for (;;) {
    const master = await getMaster(deps, masterLogin, context);
    try {
      const { entries, lastNumber } = await readPage(deps, master, context);
      const wanted = entries.filter((entry) => entry.number <= through);
      const number = await recordPage(deps, master, wanted, { context, untilMs });
      if (number >= lastNumber) return { number, isEnd: true };
      if (number >= through) return { number, isEnd: false };
      if (performance.now() >= untilMs) return { number, isEnd: false };
    } catch (error) {
      throw error instanceof UnreadableJournal ? await stop(deps, master, error) : error;
    }
  }
}

type Limits = { readonly context: CallContext; readonly untilMs: number };

/** Returns the number of the last entry that is in the journal. */
async function recordPage(
  deps: Deps,
  { masterLogin, read }: FeeMaster,
  entries: JournalPage["entries"],
  { context, untilMs }: Limits,
): Promise<bigint> {
  let after = read;
  let rest = entries;
  let batch: JournalBatch | undefined;
  while (rest.length > 0 && performance.now() < untilMs) {
    batch ??= await readBatch(deps, { masterLogin, after }, rest, context);
    const step = await recordBatch(deps, batch);
    if (step === "outdated") break;
    if (step === "folded") continue;
    after = positionAfter(batch);
    if (batch.isComplete) rest = rest.slice(batch.entries.length);
    batch = undefined;
  }
  return after.number;
}

/** The payment account of a Master is read from account once: a change of it comes from there. */
async function getMaster(deps: Deps, login: string, context: CallContext): Promise<FeeMaster> {
  const master = (await findMaster(deps.pool, login)) ?? (await addMaster(deps, login, context));
  if (master.stoppedReason !== undefined) throw safetyStop(login, "unreadable");
  if (master.breakReason !== undefined) throw safetyStop(login, "break");
  return master;
}

async function addMaster({ pool, accounts }: Deps, login: string, context: CallContext): Promise<FeeMaster> {
  const { paymentAccountLogin } = await accounts.findMaster({ login }, queryContext(context));
  await insertMaster(pool, login, paymentAccountLogin);
  const master = await findMaster(pool, login);
  assert(master !== undefined, "an inserted Master is found");
  return master;
}

/**
 * What one transaction did. "folded": it has added results to the Investors of a closed week, and others remain before the week can
 * be decided. "outdated": another process has recorded parts or stopped the Master, so the next page is read after what it has recorded.
 */
type Step = "recorded" | "folded" | "outdated";

async function recordBatch(deps: Deps, batch: JournalBatch): Promise<Step> {
  const { masterLogin } = batch;
  const step = await inTransaction(deps.pool, async (tx): Promise<Step> => {
    await requireKnownFees(tx, deps);
    const week = weekOf(batch);
    const investorLogins = week === undefined ? [] : batch.parts.map(({ investorLogin }) => investorLogin);
    const masters = await lockWithOwed(tx, [masterLogin], { investorLogins, whenBusy: "leave" });
    if (!isNext(masters.get(masterLogin), batch)) return "outdated";
    const books = week && (await openWeek(tx, week, batch.parts, { masters, maxResults: deps.steps.results }));
    if (week !== undefined && books === undefined) return "folded";
    await insertBatch(tx, batch);
    await moveRead(tx, masterLogin, positionAfter(batch));
    if (week !== undefined && books !== undefined) {
      const page = {
        books,
        holdings: batch.parts,
        isContinued: batch.after.subscriptionId > 0n,
        isLast: batch.isComplete,
      };
      await decideClosedWeek(tx, week, page, deps.now());
      afterCommit(tx, deps.wakeSignals.payments.notify);
    }
    return "recorded";
  });
  failpoint("after_accounting_step", step);
  return step;
}

function isNext(master: FeeMaster | undefined, { after, entries }: JournalBatch): boolean {
  const isSame = master?.read.number === after.number && master.read.subscriptionId === after.subscriptionId;
  return isSame && master.stoppedReason === undefined && master.breakReason === undefined && entries.length > 0;
}

/** A closed week is alone in its batch. */
function weekOf({ masterLogin, entries: [first] }: JournalBatch): ClosedWeek | undefined {
  return first?.kind === "WEEK" ? { ...first, masterLogin } : undefined;
}

/** The review is opened in the commit that stops the Master. */
async function stop({ pool, log, now }: Deps, master: FeeMaster, error: UnreadableJournal): Promise<Error> {
  const { masterLogin: login, read } = master;
  const why = error.message;
  await inTransaction(pool, async (tx) => {
    if (!(await stopMaster(tx, login, why))) return;
    await openCase(
      tx,
      {
        subject: `allocations:${login}`,
        reason: "allocations_unreadable",
        login,
        evidence: { why, read_number: String(read.number) },
        actions: ["read_again"],
      },
      now(),
    );
  });
  log.error("allocations not readable, fees of Master stopped, manual review required", {
    login,
    number: read.number,
    error,
  });
  return safetyStop(login, "unreadable");
}
