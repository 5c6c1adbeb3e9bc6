import { callContext, remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { byKey, type GatheredRead, gatherReads } from "#kernel/batches/gather-reads.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import type {
  GetBalanceRequest,
  GetBalanceResponse,
  GetBalancesRequest,
  GetBalancesResponse,
} from "#proto/pamm/funding/v1/funding.ts";
import type { ShownBalance } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";

type Shown = Omit<GetBalanceResponse, "login">;

/** The balances that the trading platform shows; a login without one is not registered. */
export type BalanceReads = GatheredRead<string, Shown>;

/** Leaves the caller time for its own answer. */
const READ_WITHIN_MS = 3_000;
/** After every entry of a log, so that platform adds up none. */
const END_OF_LOG = 2n ** 63n - 1n;
/** A refusal names a service and an outcome, which mean nothing to the caller of a read. */
const UNREAD = "The balance cannot be read now.";

/** Reads that wait at the same time are one call of account and, while that runs, one of platform. */
export function balanceReads({ accounts, platform }: Pick<Deps, "accounts" | "platform">): BalanceReads {
  return gatherReads(async (logins) => {
    const context = callContext({ caller: "funding", withinMs: READ_WITHIN_MS });
    const positions = logins.map((login) => ({ login, number: END_OF_LOG }));
    const [known, read] = await Promise.all([
      accounts.findAccounts({ logins: [...logins] }, context),
      // Concerns registered logins only.
      platform
        .readBalances({ positions }, context)
        .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error)))),
    ]);
    if (read instanceof Error) return new Map(known.accounts.map(({ login }) => [login, read]));
    const shown = byKey(read.balances, ({ login }) => login);
    return new Map(known.accounts.map(({ login }) => [login, answerFor(login, shown.get(login))]));
  });
}

function answerFor(login: string, read: ShownBalance | undefined): Shown {
  const balance = read?.balance;
  const why =
    read === undefined
      ? `Account ${login} is not managed by this service.`
      : read.log?.archived === true
        ? `The broker has archived or deleted account ${login}, and the trading platform does not show it. It is read again when the broker restores it.`
        : `The trading platform does not show account ${login}.`;
  return { balance, error: balance === undefined ? why : "", isUnknown: false };
}

/** The trading platform's balance of a registered login; a refusal is reported in the answer. */
export async function getBalance(
  read: BalanceReads,
  { login }: GetBalanceRequest,
  context: CallContext,
): Promise<GetBalanceResponse> {
  try {
    const shown = await read(login, performance.now() + remainingMs(context));
    return { login, ...(shown ?? { balance: undefined, error: "unknown login", isUnknown: true }) };
  } catch (error) {
    if (error instanceof Refusal) {
      return { login, balance: undefined, error: UNREAD, isUnknown: false };
    }
    throw error;
  }
}

/** Each login with its balance or why it could not be read: up to 100 logins are one call of account and one of platform. */
export async function getBalances(
  read: BalanceReads,
  { logins }: GetBalancesRequest,
  context: CallContext,
): Promise<GetBalancesResponse> {
  if (logins.length < 1 || logins.length > MAX_PAGE_SIZE) {
    const errors = [
      { field: "logins", code: "out_of_range", message: `logins must have 1 to ${MAX_PAGE_SIZE} logins.` },
    ];
    throw refuse("validation_failed", "The request is invalid.", { errors });
  }
  return { balances: await Promise.all(logins.map((login) => getBalance(read, { login }, context))) };
}
