import { failpoint } from "#kernel/process/failpoint.ts";
import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import {
  type AsPosted,
  divideAsPosted,
  type Division,
  firstWeek,
  type PostedInvestor,
  type WeekOfDeals,
} from "../../domain/divide-as-posted.ts";
import { sumOf } from "../../domain/pool/rounding.ts";
import { lockAccounts } from "../../store/books.ts";
import {
  addUnexplained,
  keepOnAccounts,
  listLostResults,
  listUnexplained,
  type LostRow,
  lockLostElsewhere,
  markBooked,
  sumElsewhere,
} from "../../store/lost-results.ts";
import { lockMaster, type Master } from "../../store/masters.ts";
import { listWaitingDeals } from "../../store/results.ts";
import { listActiveHoldings, lockPoolState } from "../../store/unit-pools.ts";
import { jobContext } from "../deadlines.ts";
import { openLedger, saveLedger } from "./ledger.ts";
import { lastToClose } from "./mark-master.ts";
import { readMaster } from "./read-master.ts";

/** Commits of one Master in one run; the next run goes on. */
const MAX_COMMITS = 10_000;
const ACCOUNTS_PER_COMMIT = 500;

/** What was posted to Investors who are in no pool by the books is on their accounts, and stays there. */
export async function keepLostElsewhere({ pool, now }: Deps): Promise<void> {
  for (;;) {
    const booked = await inTransaction(pool, async (tx) => {
      const rows = await lockLostElsewhere(tx, ACCOUNTS_PER_COMMIT);
      const accounts = Map.groupBy(rows, ({ login }) => login);
      const first = new Set([...accounts.values()].map(([row]) => row));
      await markBooked(
        tx,
        rows.map((row) => ({ ...row, outside: first.has(row) ? -row.unposted : 0n })),
        now(),
      );
      await keepOnAccounts(tx, [...accounts.keys()]);
      return accounts.size;
    });
    if (booked < ACCOUNTS_PER_COMMIT) return;
  }
}

/** The deals of one week, and how they are divided. */
type Plan = { readonly week: WeekOfDeals; readonly rows: readonly LostRow[]; readonly division: Division };

/** "more": another commit follows. "week": the week has to be closed first. */
type Step = { readonly next: "more" | "week" | "done"; readonly plan?: Plan };

/**
 * Allocates the deals of a Master of which the books had lost the postings, as they were posted. Each commit leaves what the next one needs: a plan
 * that is made again from there is the same.
 */
export async function divideLost(deps: Deps, login: string): Promise<void> {
  let plan: Plan | undefined;
  for (let commits = 0; commits < MAX_COMMITS; commits += 1) {
    const known = plan;
    const step = await inTransaction(deps.pool, (tx) => divideStep(tx, deps, login, known));
    failpoint("after_allocation");
    if (step.next === "done" || (step.next === "week" && !(await closeWeek(deps, login)))) return;
    plan = step.plan;
  }
}

async function divideStep(tx: Transaction, deps: Deps, login: string, known: Plan | undefined): Promise<Step> {
  const master = await lockMaster(tx, login, { isSettling: true });
  if (master === undefined || master.stoppedReason !== null) return { next: "done" };
  const plan = known ?? (await planWeek(tx, deps, master));
  if (plan === undefined) return { next: "done" };
  const { week, rows, division } = plan;
  if (division === "by_units" || division === "no_result") {
    if (division === "no_result") await keepOnAccounts(tx, [...new Set(rows.map((row) => row.login))]);
    await markBooked(tx, rows, deps.now());
    return await allocateWeek(tx, deps, master, week);
  }
  return (await allocateAsPosted(tx, deps, master, { ...plan, division })) ? { next: "more" } : { next: "more", plan };
}

async function planWeek(tx: Transaction, deps: Deps, master: Master): Promise<Plan | undefined> {
  const { login, filedNumber: through } = master;
  const active = await listActiveHoldings(tx, login);
  const accounts = await lockAccounts(
    tx,
    active.map(({ investorLogin }) => investorLogin),
  );
  const rows = await listLostResults(tx, login);
  const unexplained = sumOf((await listUnexplained(tx)).map(({ amount }) => amount));
  const elsewhere = (await sumElsewhere(tx)) - unexplained;
  const deals = await listWaitingDeals(tx, login, { through });
  if (rows.length === 0 && (deals.length === 0 || (active.length === 0 && elsewhere === 0n))) return undefined;
  const state = await lockPoolState(tx, master);
  const unposted = new Map(accounts.map((account) => [account.login, account.buckets.unposted]));
  const lost = Map.groupBy(rows, (row) => row.login);
  const investors = active.map(({ subscriptionId, investorLogin }): PostedInvestor => ({
    subscriptionId,
    unposted: unposted.get(investorLogin) ?? 0n,
    lost: lost.get(investorLogin) ?? [],
  }));
  const week = firstWeek(state, deals, investors, deps.week);
  const { arePositionsKnown, acceptedDealsNumber } = master;
  const rules = { week: deps.week, arePositionsKnown, acceptedDealsNumber };
  const division = divideAsPosted(state, week.deals, { investors: week.investors, elsewhere }, rules);
  // Of a Master without an Investor nothing else is to be done.
  if (active.length === 0 && division === "by_units") return undefined;
  const { before } = week;
  return { week, division, rows: before === undefined ? rows : rows.filter(({ at }) => at < before) };
}

async function allocateWeek(
  tx: Transaction,
  deps: Deps,
  master: Master,
  { deals, isEnded }: WeekOfDeals,
): Promise<Step> {
  const last = deals.at(-1);
  if (last === undefined) return { next: isEnded ? "week" : "done" };
  const { ledger, end } = await openLedger(tx, deps, master, { through: last.number });
  await saveLedger(tx, deps, ledger);
  return { next: end === "stopped" ? "done" : "more" };
}

/** Whether the last of these deals is allocated, with the difference. */
async function allocateAsPosted(
  tx: Transaction,
  deps: Deps,
  master: Master,
  { rows, division: { unexplained, ...division } }: Omit<Plan, "division"> & { readonly division: AsPosted },
): Promise<boolean> {
  const elsewhere = master.own.units === 0n ? unexplained : 0n;
  const correction = { ...division, elsewhere };
  const { ledger } = await openLedger(tx, deps, master, { through: division.number, correction });
  await saveLedger(tx, deps, ledger);
  if (ledger.allocatedThrough < division.number) return false;
  await addUnexplained(tx, master.login, { unexplained, imported: elsewhere });
  await markBooked(tx, rows, deps.now());
  afterCommit(tx, () =>
    deps.log.info("results of a lost time divided as they were posted", { login: master.login, count: rows.length }),
  );
  return true;
}

/** Whether the next week was closed. */
async function closeWeek(deps: Deps, login: string): Promise<boolean> {
  const { isComplete, requestedAt, platformAt, logNumber, marks } = await readMaster(deps, login, jobContext());
  if (!isComplete) return false;
  return await inTransaction(deps.pool, async (tx) => {
    const master = await lockMaster(tx, login, { isSettling: true });
    if (master === undefined || master.stoppedReason !== null) return false;
    const reading = { at: requestedAt, marks, closeThrough: lastToClose(deps.week, platformAt) };
    const { ledger } = await openLedger(tx, deps, master, { through: logNumber, reading, isForWeek: true });
    await saveLedger(tx, deps, ledger);
    return ledger.master.weeksClosedThrough !== master.weeksClosedThrough;
  });
}
