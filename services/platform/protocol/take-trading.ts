import { BUSY_RETRY_AFTER_MS } from "#kernel/values/refusal.ts";
import { confirmChange } from "../commands/confirm-change.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { recordTaken } from "../store/taken-rights.ts";

/**
 * Takes the right to trade from an account that has it. A row says first that it is owed, so that a crash behind the command leaves what
 * a job gives back. Refuses unless the platform has confirmed it; false when it does not show the account.
 */
export async function takeTrading({ pool, mt5 }: Pick<Deps, "pool" | "mt5">, login: string): Promise<boolean> {
  const taking = mt5.setTrading(login, false, async () => {
    if (!(await recordTaken(pool, login))) throw tradingBeingReturned(login);
  });
  return await confirmChange(taking, { login, change: "disable trading on" });
}

export function tradingBeingReturned(login: string): Error {
  return refuse(
    "account_busy",
    `Account ${login} is just given back its right to trade, which ends within seconds. Nothing was executed. Send the request again in a second.`,
    { outcome: "not_executed", retryAfterMs: BUSY_RETRY_AFTER_MS },
  );
}
