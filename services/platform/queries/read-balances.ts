import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import type {
  LogBalance as LogBalanceMessage,
  LogPosition,
  ReadBalancesRequest,
  ReadBalancesResponse,
  ReadLogBalancesRequest,
  ReadLogBalancesResponse,
} from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import { refuse } from "../refusals.ts";
import { listLogBalances, type LogBalance } from "../store/log.ts";

/** Reads the log first, so that a deal between the two reads shows as a difference instead of hiding one. */
export async function readBalances(
  { pool, mt5 }: Deps,
  { positions }: ReadBalancesRequest,
): Promise<ReadBalancesResponse> {
  requirePositions(positions);
  const logs = await listLogBalances(pool, positions);
  const shown = logs.filter(({ isArchived }) => !isArchived).map(({ login }) => login);
  const users = shown.length === 0 ? new Map<string, never>() : await orUnavailable(mt5.getUsers(shown));
  return {
    balances: logs.map((log) => {
      const user = users.get(log.login);
      const balance = user && moneyToProto(usd(user.balanceMinor));
      return { login: log.login, balance, log: logMessage(log) };
    }),
  };
}

export async function readLogBalances(
  { pool }: Pick<Deps, "pool">,
  { positions }: ReadLogBalancesRequest,
): Promise<ReadLogBalancesResponse> {
  requirePositions(positions);
  return { balances: (await listLogBalances(pool, positions)).map(logMessage) };
}

function requirePositions(positions: readonly LogPosition[]): void {
  const logins = new Set(positions.map(({ login }) => login));
  if (positions.length >= 1 && positions.length <= MAX_PAGE_SIZE && logins.size === positions.length) return;
  throw refuse("validation_failed", `A request has 1 to ${MAX_PAGE_SIZE} different logins.`);
}

function logMessage({
  login,
  balanceMinor,
  dealId,
  dealAt,
  lastNumber,
  lastDealAt,
  isArchived,
  isOtherCurrency,
  isNotShown,
}: LogBalance): LogBalanceMessage {
  return {
    login,
    balance: moneyToProto(usd(balanceMinor)),
    dealId: dealId ?? 0n,
    dealAt: dealAt ?? undefined,
    lastNumber,
    lastDealAt: lastDealAt ?? undefined,
    archived: isArchived,
    otherCurrency: isOtherCurrency,
    notShown: isNotShown,
  };
}
