import type { Mt5Context } from "./context.ts";
import { fieldsOf, requireLogin } from "./fields.ts";
import { findDone, requireDone } from "./reader.ts";
import { getUser } from "./users.ts";

export type AccountState = {
  readonly login: string;
  readonly balanceMinor: bigint;
  readonly creditMinor: bigint;
  /** Balance, credit and the floating profit and swap of open positions. */
  readonly equityMinor: bigint;
  readonly marginMinor: bigint;
  readonly freeMarginMinor: bigint;
  /** Swap and profit of open positions. */
  readonly floatingMinor: bigint;
};

/**
 * The equity and margin of an account. The platform keeps this state for active accounts only: for an account without
 * activity since the server's last restart it answers "not found", and the equity is balance plus credit. Undefined when
 * the account does not exist.
 */
export async function readAccountState(mt5: Mt5Context, login: string): Promise<AccountState | undefined> {
  const found = findDone(await mt5.read({ method: "GET", path: "user/account/get", query: { login } }));
  if (found === undefined) return await inactiveState(mt5, login);
  const fields = fieldsOf(found.answer);
  requireLogin(fields, login);
  return {
    login,
    balanceMinor: fields.minor("Balance"),
    creditMinor: fields.minor("Credit", 0n),
    equityMinor: fields.shownMinor("Equity"),
    marginMinor: fields.shownMinor("Margin"),
    freeMarginMinor: fields.shownMinor("MarginFree"),
    floatingMinor: fields.shownMinor("Floating"),
  };
}

export type BalanceCheck = { readonly balanceMinor: bigint; readonly historyMinor: bigint };

/** The balance and the sum of the history, both as the platform computes them. Changes nothing. */
export async function checkBalance({ read }: Mt5Context, login: string): Promise<BalanceCheck> {
  const query = { login, fixflag: "0" };
  const { answer } = requireDone(await read({ method: "GET", path: "user/check_balance", query }));
  const balance = fieldsOf(fieldsOf(answer).record("Balance"));
  return { balanceMinor: balance.minor("User"), historyMinor: balance.minor("History") };
}

async function inactiveState(mt5: Mt5Context, login: string): Promise<AccountState | undefined> {
  const user = await getUser(mt5, login);
  if (user === undefined) return undefined;
  const { balanceMinor, creditMinor } = user;
  const equityMinor = balanceMinor + creditMinor;
  return {
    login,
    balanceMinor,
    creditMinor,
    equityMinor,
    marginMinor: 0n,
    freeMarginMinor: equityMinor,
    floatingMinor: 0n,
  };
}
