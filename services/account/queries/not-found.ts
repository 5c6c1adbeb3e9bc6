import type { Queryable } from "#kernel/postgres/query.ts";
import { ROLE_NAMES } from "../domain/decide-registration.ts";
import { findAccounts } from "../store/accounts.ts";

/** The message why no `wanted` has this login: it has another role, or it is not registered. */
export async function whyNotFound(db: Queryable, login: string, wanted: "Master" | "Investor"): Promise<string> {
  const [account] = await findAccounts(db, [login]);
  if (account === undefined) return `No ${wanted} has the login ${login}.`;
  return `${login} is ${ROLE_NAMES[account.kind]}, not ${wanted === "Master" ? "a Master" : "an Investor"}.`;
}
