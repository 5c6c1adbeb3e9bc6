import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { GetBalanceRequest, GetBalanceResponse } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";

/** The trading platform's balance of a registered login; a refusal is reported in the answer. */
export async function getBalance(
  deps: Deps,
  { login }: GetBalanceRequest,
  context: CallContext,
): Promise<GetBalanceResponse> {
  try {
    const { accounts } = await deps.accounts.findAccounts({ logins: [login] }, context);
    if (accounts.length === 0) {
      return { login, balance: undefined, error: "unknown login" };
    }
    const { balance } = await deps.platform.getBalance({ login }, context);
    return { login, balance, error: "" };
  } catch (error) {
    if (error instanceof Refusal) {
      return { login, balance: undefined, error: error.message };
    }
    throw error;
  }
}
