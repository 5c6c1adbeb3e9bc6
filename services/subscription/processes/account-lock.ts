import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import type { HoldRequest } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { accountBusy, refusalOfLock } from "../domain/lock-refusals.ts";
import { type MasterReading, masterReading } from "../messages/marks.ts";
import { type InvestorState, NOT_FILED } from "../store/investor-states.ts";
import { catchUp } from "./filing/catch-up.ts";

export type AccountLock = { readonly login: string; readonly lockOwner: string };
/** `acceptsArchived`: the saga goes on when the broker has archived the account, which has no money then. */
type Wanted = AccountLock & Pick<HoldRequest, "takeTrading" | "acceptsArchived" | "masterLogin">;

/** Balance, open positions and log position of a locked login, read together; the log is filed exactly up to there. */
export type AccountLockFacts = {
  readonly balance: bigint;
  readonly logNumber: bigint;
  readonly logEntryId: bigint;
  readonly openPositions: number;
  /** The books of the Investor, read after that. */
  readonly books: InvestorState;
  /** Of the Master that was asked for, whose log is filed up to there too. Undefined when it has to be read alone. */
  readonly master: MasterReading | undefined;
};

/** A dealer may move money on a locked login; after so many changes in a row the command is refused. */
const MAX_READS = 5;

/** Takes the account lock and reads the account until the log is filed exactly up to the log position of the reading. */
export async function holdLock(deps: Deps, accountLock: Wanted, context: CallContext): Promise<AccountLockFacts> {
  for (let reads = 1; reads <= MAX_READS; reads += 1) {
    const requestedAt = deps.now();
    const held = await callWithoutEffect(() => deps.platform.hold(accountLock, withReplyReserve(context)));
    const { logNumber, logEntryId, openPositions } = held;
    const { login, masterLogin = "" } = accountLock;
    const master = held.master && masterReading(masterLogin, held.master, { requestedAt, arePricesChecked: false });
    let books = await readBooks(deps, login);
    const ends = [{ login, upTo: logNumber }, ...(master ? [{ login: masterLogin, upTo: master.logNumber }] : [])];
    const isBehind = ends.some((end) => filedNumberOf(books, login, end.login) < end.upTo);
    // Of a log that was written again a number that is filed may name another entry: then no log is read.
    if (isBehind || deps.isPlatformRewound()) {
      await callWithoutEffect(() => Promise.all(ends.map((end) => catchUp(deps, end, withReplyReserve(context)))));
      books = await readBooks(deps, login);
    }
    if (books.filedNumber === logNumber) {
      const balance = moneyFromProto(held.balance, "balance").minor;
      return { balance, logNumber, logEntryId, openPositions, books, master };
    }
  }
  throw accountBusy(
    "The Investor's account changed in each reading, because money or trades keep coming to it. Nothing was executed. Send the request again when the account is quiet.",
  );
}

async function readBooks({ accountReads }: Deps, login: string): Promise<InvestorState> {
  return (await accountReads.investor(login)) ?? NOT_FILED;
}

/** Of the Investor, or of the Master that it is with; -1 when this does not say. */
function filedNumberOf({ filedNumber, holding }: InvestorState, investorLogin: string, login: string): bigint {
  if (login === investorLogin) return filedNumber;
  return holding?.masterLogin === login ? holding.masterNumber : NOT_FILED.filedNumber;
}

/** False when it failed: the row of the saga keeps the lock owner, and the recovery job retries the release. */
export async function releaseLock(deps: Deps, accountLock: AccountLock, context: CallContext): Promise<boolean> {
  try {
    await deps.platform.release(accountLock, context);
    return true;
  } catch (error) {
    deps.log.info("account lock not released, retry scheduled", {
      login: accountLock.login,
      key: accountLock.lockOwner,
      error,
    });
    return false;
  }
}

/** For calls that move no money: every failure is "not executed". */
async function callWithoutEffect<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw refusalOfLock(error);
  }
}
