import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import type { Deps } from "../deps.ts";
import type { ChangeOutcome } from "../mt5/change-user.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { NOT_SHOWN } from "../checks/trading-rights.ts";
import { askTradingUse, type TradingUse } from "../checks/trading-use.ts";
import { takeTrading } from "../protocol/change-account.ts";
import { lockAccount } from "../store/accounts.ts";
import {
  beginReturn,
  endReturn,
  isReturning,
  listTaken,
  listTrading,
  lockTaken,
  returnLater,
  type TakenRight,
} from "../store/taken-rights.ts";

export type TradingRightsDeps = Pick<Deps, "pool" | "mt5" | "log" | "gate"> & { readonly tradingUse: TradingUse };

/** Rights that one run gives back, and takes again: each is three requests to the platform. */
const BATCH = 100;

/** Gives the right to trade back to accounts that need not be without it any more. */
export async function giveTradingBack(deps: TradingRightsDeps): Promise<boolean> {
  // A restored database does not know every subscription until operators have resumed.
  if (deps.gate.read() !== "open") return false;
  let tries = 0;
  let after = "";
  for (;;) {
    const page = await listTaken(deps.pool, after, MAX_PAGE_SIZE);
    if (page.length === 0) return false;
    const { now, soon } = await askTradingUse(deps.tradingUse, page);
    for (const right of page.filter(({ login }) => !now.has(login) && !soon.has(login))) {
      if (tries === BATCH) return true;
      tries += 1;
      // The others wait until the platform answers.
      if ((await begin(deps, right)) && (await finish(deps, right.login)) === "not read") return false;
    }
    if (page.length < MAX_PAGE_SIZE) return false;
    after = page.at(-1)?.login ?? "";
  }
}

/**
 * Asks again under the locks of the account and of the row: an assignment or a registration that was recorded before is seen, and a later
 * one finds that the right is being given back, and waits.
 */
async function begin({ pool, tradingUse }: TradingRightsDeps, right: TakenRight): Promise<boolean> {
  const { login } = right;
  return await inTransaction(pool, async (tx) => {
    const account = await lockAccount(tx, login);
    if (!(await lockTaken(tx, right))) return false;
    const { now, soon } = await askTradingUse(tradingUse, [{ login, role: account?.role }]);
    if (now.has(login) || soon.has(login)) return false;
    await beginReturn(tx, login);
    return true;
  });
}

async function finish({ pool, mt5, log }: TradingRightsDeps, login: string): Promise<Tried> {
  let maySent = false;
  const outcome = await mt5
    .setTrading(login, true, async () => {
      // A process that was paused meanwhile must not send.
      if (!(await isReturning(pool, login))) throw new Refusal(TOO_LATE);
      maySent = true;
    })
    .catch(failureOf);
  if (outcome === "too late") return outcome;
  if (outcome !== undefined && outcome !== "not read" && outcome.kind === "done") {
    await endReturn(pool, login);
    log.info("right to trade given back", { login });
    return outcome;
  }
  const reason = reasonOf(outcome);
  await returnLater(pool, login, { reason, maySent: maySent && isOpen(outcome) });
  // An account that the platform does not show is archived, and its right is given back when it returns.
  if (outcome !== undefined) log.warn("right to trade not given back, retry scheduled", { login, reason });
  return outcome;
}

const TOO_LATE = {
  code: "deadline_exceeded",
  status: "unavailable",
  message: "The right is given back later.",
} as const;

function failureOf(error: unknown): "not read" | "too late" {
  if (error instanceof Mt5Error) return "not read";
  if (error instanceof Refusal) return "too late";
  throw error;
}

type Failed = ChangeOutcome | "not read" | undefined;
type Tried = Failed | "too late";

/** The command was written, and may still be executed. */
function isOpen(outcome: Failed): boolean {
  return outcome === "not read" || outcome?.kind === "unknown";
}

function reasonOf(outcome: Failed): string {
  if (outcome === undefined) return NOT_SHOWN;
  if (outcome === "not read" || outcome.kind === "done") return "the trading platform did not answer";
  return outcome.kind === "refused"
    ? `the trading platform refused with code ${outcome.code}`
    : `the trading platform did not confirm it: ${outcome.reason}`;
}

/**
 * Takes the right to trade again from accounts to which it was given although they must not have it, or that are older than the setting: those
 * are breaks of the check trading_rights.
 */
export async function takeTradingAgain({
  pool,
  mt5,
  log,
  settings,
}: Pick<Deps, "pool" | "mt5" | "log" | "settings">): Promise<boolean> {
  if (!settings.takesTrading) return false;
  const failed: { readonly login: string; readonly error: Refusal }[] = [];
  for (const login of await listTrading(pool, BATCH)) {
    try {
      await takeTrading({ pool, mt5 }, login);
      log.warn("right to trade taken again, the account must not trade", { login });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      failed.push({ login, error });
    }
  }
  const [first] = failed;
  // One line: all of them fail when the manager lacks the right.
  if (first !== undefined) log.warn("rights to trade not taken, retry scheduled", { ...first, count: failed.length });
  return false;
}
