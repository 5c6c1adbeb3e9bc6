import { callContext, remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { byKey, type GatheredRead, gatherReads } from "#kernel/gather-reads.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Money } from "#proto/pamm/common/v1/money.ts";
import type { GetBalanceRequest, GetBalanceResponse } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";

type Shown = { readonly balance: Money | undefined; readonly error: string };

/** The balances that the trading platform shows; a login without one is not registered. */
export type BalanceReads = GatheredRead<string, Shown>;

/** Leaves the caller time for its own answer. */
const READ_WITHIN_MS = 3_000;
/** After every entry of a log, so that platform adds up none. */
const END_OF_LOG = 2n ** 63n - 1n;

/** Reads that wait at the same time are one call of account and one of platform. */
export function balanceReads({ accounts, platform }: Pick<Deps, "accounts" | "platform">): BalanceReads {
  return gatherReads(async (logins) => {
    const context = callContext({ caller: "funding", withinMs: READ_WITHIN_MS });
    const known = await accounts.findAccounts({ logins: [...logins] }, context);
    if (known.accounts.length === 0) return new Map();
    const positions = known.accounts.map(({ login }) => ({ login, number: END_OF_LOG }));
    const { balances } = await platform.readBalances({ positions }, context);
    const shown = byKey(balances, ({ login }) => login);
    return new Map(positions.map(({ login }) => [login, answerFor(login, shown.get(login))]));
  });
}

function answerFor(login: string, read: { readonly balance: Money | undefined } | undefined): Shown {
  if (read === undefined) return { balance: undefined, error: `Account ${login} is not managed by this service.` };
  const { balance } = read;
  const error = balance === undefined ? `The trading platform does not show account ${login}.` : "";
  return { balance, error };
}

/** The trading platform's balance of a registered login; a refusal is reported in the answer. */
export async function getBalance(
  read: BalanceReads,
  { login }: GetBalanceRequest,
  context: CallContext,
): Promise<GetBalanceResponse> {
  try {
    const shown = await read(login, performance.now() + remainingMs(context));
    return { login, ...(shown ?? { balance: undefined, error: "unknown login" }) };
  } catch (error) {
    if (error instanceof Refusal) {
      return { login, balance: undefined, error: error.message };
    }
    throw error;
  }
}
