import type { Mt5Context } from "./context.ts";
import { fieldsOf, requireLogin } from "./fields.ts";
import { findDone, requireDone } from "./reader.ts";
import { getUser } from "./users.ts";

export type AccountState = {
  readonly login: string;
  readonly balanceMinor: bigint;
  readonly creditMinor: bigint;
  /** Balance, credit and everything that floats. */
  readonly equityMinor: bigint;
  readonly marginMinor: bigint;
  readonly freeMarginMinor: bigint;
  /** Swap and profit of open positions. */
  readonly floatingMinor: bigint;
};

/**
 * What an account is worth now. The platform keeps a state of active accounts only: one that has rested since the
 * server's last restart is not "not found" but worth exactly its balance and credit. Undefined when it does not exist.
 */
export async function readAccountState(mt5: Mt5Context, login: string): Promise<AccountState | undefined> {
  const found = findDone(await mt5.read({ method: "GET", path: "user/account/get", query: { login } }));
  if (found === undefined) return await restingState(mt5, login);
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

/** The balance beside the sum of the history, as the platform itself adds it up. Changes nothing. */
export async function checkBalance({ read }: Mt5Context, login: string): Promise<BalanceCheck> {
  const query = { login, fixflag: "0" };
  const { answer } = requireDone(await read({ method: "GET", path: "user/check_balance", query }));
  const balance = fieldsOf(fieldsOf(answer).record("Balance"));
  return { balanceMinor: balance.minor("User"), historyMinor: balance.minor("History") };
}

async function restingState(mt5: Mt5Context, login: string): Promise<AccountState | undefined> {
  const user = await getUser(mt5, login);
  if (user === undefined) return undefined;
  const { balanceMinor, creditMinor } = user;
  const worth = balanceMinor + creditMinor;
  return {
    login,
    balanceMinor,
    creditMinor,
    equityMinor: worth,
    marginMinor: 0n,
    freeMarginMinor: worth,
    floatingMinor: 0n,
  };
}
