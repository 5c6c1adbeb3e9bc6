import { BUSY_RETRY_AFTER_MS } from "#kernel/values/refusal.ts";
import type { Deps } from "../deps.ts";
import type { ChangeOutcome } from "../mt5/change-user.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { RETCODE } from "../mt5/retcodes.ts";
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

const NO_RIGHT = "The manager lacks the right to edit accounts.";

/**
 * Refuses unless the platform has confirmed the change of the account: `change` is "disable", for example. False when it shows no such
 * account. A failed read may come after the change, so that no refusal says that nothing was executed.
 */
export async function confirmChange(
  changing: Promise<ChangeOutcome | undefined>,
  { login, change }: { login: string; change: string },
): Promise<boolean> {
  const outcome = await changing.catch(asUnconfirmed);
  if (outcome === undefined || outcome.kind === "done") return outcome !== undefined;
  if (outcome.kind === "refused" && outcome.code !== RETCODE.tooFrequent) {
    const message = `The trading platform refused to ${change} account ${login} with code ${outcome.code}.`;
    const text = outcome.code === RETCODE.noPermission ? `${message} ${NO_RIGHT}` : message;
    throw refuse("platform_rejected", text, { details: { platform_code: String(outcome.code) } });
  }
  const message = `The trading platform did not confirm the request to ${change} the account.`;
  throw refuse("platform_unavailable", message);
}

function asUnconfirmed(error: unknown): ChangeOutcome {
  if (error instanceof Mt5Error) return { kind: "unknown", reason: "unconfirmed" };
  throw error;
}
