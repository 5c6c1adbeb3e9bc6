import { RETRY_AFTER_MS } from "#kernel/refusal.ts";
import type { Deps } from "../deps.ts";
import type { NewUser } from "../mt5/users.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import { refuse } from "../refusals.ts";

/**
 * An account that was found may have the passwords of a request that the database has lost: the caller gets, and the service keeps,
 * those of this one. The main password is set last, because it is the one that is checked: after a crash both are set again. Returns
 * the code with which the platform refused, if it did.
 */
export async function setPasswords({ mt5 }: Deps, user: NewUser): Promise<number | undefined> {
  const { login, mainPassword, investorPassword } = user;
  if (await orUnavailable(mt5.checkPassword(login, mainPassword))) return undefined;
  for (const [type, password] of [
    ["investor", investorPassword],
    ["main", mainPassword],
  ] as const) {
    const changed = await orUnavailable(mt5.changePassword(login, type, password));
    if (changed.kind === "refused") return changed.code;
    if (changed.kind !== "done") {
      throw refuse("platform_unavailable", "The trading platform did not answer.", {
        outcome: "unknown",
        retryAfterMs: RETRY_AFTER_MS,
      });
    }
  }
  return undefined;
}
