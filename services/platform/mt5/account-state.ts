import type { Mt5Context } from "./context.ts";
import { badAnswer } from "./errors.ts";
import { fieldsOf } from "./fields.ts";
import { requireDone } from "./reader.ts";
import { findState, type ShownState } from "./shown-state.ts";
import { readTotal } from "./totals.ts";
import { getUser, type User } from "./users.ts";

/**
 * The equity and margin of an account. The platform keeps this state for active accounts only: for an account without
 * activity since the server's last restart it answers "not found" or zeros, and the equity is balance plus credit. Undefined
 * when the account does not exist. Throws when zeros contradict open positions.
 */
export async function readAccountState(mt5: Mt5Context, login: string): Promise<ShownState | undefined> {
  const state = await findState(mt5.read, login);
  if (state !== undefined && hasValue(state)) return state;
  const user = await getUser(mt5, login);
  if (user === undefined) return undefined;
  if (state !== undefined && (await readTotal(mt5, "position/get_total", { login })) > 0) {
    throw badAnswer(`the platform shows account ${login} with open positions, and all zeros as its state`);
  }
  return inactiveState(user);
}

function hasValue({ balanceMinor, creditMinor, equityMinor, marginMinor, floatingMinor }: ShownState): boolean {
  return [balanceMinor, creditMinor, equityMinor, marginMinor, floatingMinor].some((value) => value !== 0n);
}

export type BalanceCheck = { readonly balanceMinor: bigint; readonly historyMinor: bigint };

/** The balance and the sum of the history, both as the platform computes them. Changes nothing. */
export async function checkBalance({ read }: Mt5Context, login: string): Promise<BalanceCheck> {
  const query = { login, fixflag: "0" };
  const { answer } = requireDone(await read({ method: "GET", path: "user/check_balance", query }));
  const balance = fieldsOf(fieldsOf(answer).record("Balance"));
  return { balanceMinor: balance.minor("User"), historyMinor: balance.minor("History") };
}

function inactiveState({ login, balanceMinor, creditMinor }: User): ShownState {
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
