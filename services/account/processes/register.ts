import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { Deps } from "../deps.ts";
import { decideExistence, decideRole, type RegistrationFacts } from "../domain/decide-registration.ts";
import { findAccounts } from "../store/accounts.ts";
import { listPendingLogins } from "../store/provisionings.ts";

/** A login, and the role that it is to have. */
type Wanted = Pick<RegistrationFacts, "field" | "login"> & { readonly wanted: "MASTER" | "PAYMENT" | "INVESTOR" };

/** Refuses logins that have a role, unless `mayHave` allows it, and those that do not exist on the trading platform. */
export async function requireRegistrable(
  { pool, platform }: Deps,
  named: readonly Wanted[],
  context: CallContext,
  mayHave: (facts: RegistrationFacts) => Promise<boolean> = async () => false,
): Promise<void> {
  const logins = named.map(({ login }) => login);
  const known = new Map((await findAccounts(pool, logins)).map(({ login, kind }) => [login, kind]));
  const pending = new Set(await listPendingLogins(pool, logins));
  const { accounts } = await platform.inspectAccounts({ logins }, childContext(context));
  const shown = new Set(accounts.filter(({ exists }) => exists).map(({ login }) => login));
  const facts = named.map(({ field, login }): RegistrationFacts => ({
    field,
    login,
    role: pending.has(login) ? "PENDING" : known.get(login),
    existsOnPlatform: shown.has(login),
  }));
  for (const [index, { wanted }] of named.entries()) {
    const fact = facts[index] as RegistrationFacts;
    if (fact.role !== undefined && !(await mayHave(fact))) decideRole(fact, wanted);
  }
  decideExistence(facts);
}
