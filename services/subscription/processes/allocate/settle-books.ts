import { inTransaction } from "#kernel/postgres/transaction.ts";
import { retryLevel } from "#kernel/jobs/transient-failure.ts";
import { type GetPermitsResponse, PermitState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import { divideLost, keepLostElsewhere } from "./divide-lost.ts";
import { jobContext } from "../deadlines.ts";
import { catchUp } from "../filing/catch-up.ts";
import { keepCases, type WantedCase } from "../review/keep-cases.ts";
import { formatMinor } from "#kernel/values/money.ts";
import { sumOf } from "../../domain/pool/rounding.ts";
import { listFiledNumbers } from "../../store/filed-numbers.ts";
import { saveGeneration } from "../../store/permit-generation.ts";
import { refuse } from "../../refusals.ts";
import {
  hasLostToBook,
  listMastersToDivide,
  listMastersWithoutInvestors,
  listUnexplained,
  settleLostResults,
  sumElsewhere,
  type Unexplained,
} from "../../store/lost-results.ts";
import { findUnsettledDatabase, lockSettlement, markSettled } from "../../store/settled-database.ts";

/** Prefix of the subjects of cases about results of a lost time that no posting explains, before the login of the Master. */
export const LOST_RESULTS = "lost_results:";

/** Logs that are compared in one call. */
const LOGINS_PER_CALL = 1_000;
/** Who comes meanwhile shares the look of the process: it compares the logs of all accounts. */
const looks = new WeakMap<Deps, Promise<State>>();

/**
 * After a restore or a failover the books may lack postings that the platform has executed. They are booked when all of them are imported: then
 * platform learns it, and operators can resume. While nothing is booked, every Master reads as stopped.
 */
export async function settleBooks(deps: Deps): Promise<State> {
  let look = looks.get(deps);
  if (look === undefined) {
    look = lookAtBooks(deps).finally(() => looks.delete(deps));
    looks.set(deps, look);
  }
  return await look;
}

async function lookAtBooks(deps: Deps): Promise<State> {
  const database = await findUnsettledDatabase(deps.pool);
  return database === undefined ? "whole" : await trySettle(deps, database);
}

/** A job; as `settleBooks`, and books that lack nothing are reported too: permits may be stopped for a deal that no service books. */
export async function reportBooks(deps: Deps): Promise<boolean> {
  if ((await settleBooks(deps)) === "whole") await trySettle(deps, undefined);
  return false;
}

/** "stopped": operators have to decide. */
type State = "whole" | "stopped" | "unknown";

async function trySettle(deps: Deps, database: string | undefined): Promise<State> {
  try {
    const permits = await deps.platform.getPermits({}, jobContext());
    const isStopped = permits.state === PermitState.STOPPED;
    if (database === undefined && !isStopped) return "whole";
    if (isReadable(permits) && (await fileAll(deps)) && (await settle(deps, database, permits))) return "whole";
    return isStopped ? "stopped" : "unknown";
  } catch (error) {
    deps.log[retryLevel(error)]("results of a lost time not booked, retry scheduled", { error });
    return "unknown";
  }
}

/** A command is not begun before; while operators have to decide, its Master reads as stopped. */
export async function requireWholeBooks(deps: Deps): Promise<void> {
  if ((await settleBooks(deps)) !== "unknown") return;
  const message = "The books are being completed after a restart of the database.";
  throw refuse("platform_unavailable", message, { outcome: "not_executed" });
}

/** Everything that the database has lost is in the logs, and platform has not learnt of each service that it is in the books. */
function isReadable({ state, importComplete, blocking }: GetPermitsResponse): boolean {
  if (state === PermitState.GRANTED) return true;
  const isAwaited = blocking.some(({ code }) => code === "owner_not_recovered");
  return state === PermitState.STOPPED && importComplete && isAwaited;
}

/** Files each known log to its end. False when the feed has more. */
async function fileAll(deps: Deps): Promise<boolean> {
  for (let after = ""; ;) {
    const page = await listFiledNumbers(deps.pool, { after, limit: LOGINS_PER_CALL });
    const last = page.at(-1);
    if (last === undefined) return deps.movementLag() === 0n;
    const positions = page.map(({ login, filedNumber }) => ({ login, number: filedNumber < 0n ? 0n : filedNumber }));
    const { balances } = await deps.platform.readLogBalances({ positions }, jobContext());
    const filed = new Map(page.map(({ login, filedNumber }) => [login, filedNumber]));
    for (const { login, lastNumber } of balances) {
      if (lastNumber > (filed.get(login) ?? lastNumber)) await catchUp(deps, { login, upTo: lastNumber }, jobContext());
    }
    after = last.login;
  }
}

async function settle(
  deps: Deps,
  database: string | undefined,
  { state, generation }: GetPermitsResponse,
): Promise<boolean> {
  await keepLostElsewhere(deps);
  for (const login of await listMastersToDivide(deps.pool)) await divideLost(deps, login);
  for (const login of await listMastersWithoutInvestors(deps.pool)) await divideLost(deps, login);
  const isExplained = await reviewLostResults(deps);
  if (!isExplained || (await hasLostToBook(deps.pool))) return false;
  if (database !== undefined && state === PermitState.GRANTED) return await end(deps, database, generation);
  await deps.platform.reportRecovered({ service: "subscription", generation }, jobContext());
  return false;
}

/**
 * What postings to Investors in the pools do not explain is what was posted to Investors who are in none by the books: it settles the flows of their
 * repeated assigns. When the amounts differ, operators decide. Whether nothing is left to decide.
 */
async function reviewLostResults(deps: Deps): Promise<boolean> {
  let wanted: readonly WantedCase[] = [];
  await keepCases(deps, LOST_RESULTS, async () => {
    const unexplained = await listUnexplained(deps.pool);
    const elsewhere = await sumElsewhere(deps.pool);
    const isExplained = elsewhere !== 0n && sumOf(unexplained.map(({ amount }) => amount)) === elsewhere;
    wanted = isExplained ? [] : unexplained.map((each) => wantedCase(each, elsewhere));
    return wanted;
  });
  return wanted.length === 0;
}

function wantedCase({ login, amount }: Unexplained, elsewhere: bigint): WantedCase {
  const evidence = { unexplained: formatMinor(amount), posted_outside_pools: formatMinor(elsewhere) };
  return {
    newCase: {
      subject: LOST_RESULTS + login,
      reason: "lost_results",
      login,
      amount,
      evidence,
      actions: ["acknowledge"],
    },
    isSame: (reviewCase) => reviewCase.amount === amount,
  };
}

async function end({ pool, log, wakeSignals }: Deps, database: string, generation: bigint): Promise<boolean> {
  const isEnded = await inTransaction(pool, async (tx) => {
    await lockSettlement(tx);
    if (await hasLostToBook(tx)) return false;
    await settleLostResults(tx);
    await markSettled(tx, database);
    await saveGeneration(tx, generation);
    return true;
  });
  if (!isEnded) return false;
  log.info("books are whole, results are allocated");
  const { results, mirrors, postings, strikes, weeks, valuations, exits, fees } = wakeSignals;
  for (const signal of [results, mirrors, postings, strikes, weeks, valuations, exits, fees]) signal.notify();
  return true;
}
