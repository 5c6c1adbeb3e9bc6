import type { Deps } from "../deps.ts";
import type { NewUser } from "../mt5/users.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import { confirmChange } from "./confirm-change.ts";

/**
 * An account that was found may have the passwords of a request that the database has lost: the caller gets, and the service keeps,
 * those of this one. The main password is set last, because it is the one that is checked: after a crash both are set again.
 */
export async function setPasswords({ mt5 }: Deps, { login, mainPassword, investorPassword }: NewUser): Promise<void> {
  if (await orUnavailable(mt5.checkPassword(login, mainPassword))) return;
  const change = { login, change: "set the passwords of" };
  await confirmChange(mt5.changePassword(login, "investor", investorPassword), change);
  await confirmChange(mt5.changePassword(login, "main", mainPassword), change);
}
