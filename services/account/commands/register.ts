import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import { isTrouble } from "#kernel/trouble.ts";
import type { Deps } from "../deps.ts";
import type { RegistrationFacts } from "../domain/decide-registration.ts";
import { refuse } from "../refusals.ts";
import { findAccounts } from "../store/accounts.ts";
import { listPendingLogins } from "../store/provisionings.ts";

const RETRY_AFTER_MS = 1_000;

export type NamedLogin = Pick<RegistrationFacts, "field" | "login">;

/** What we and the platform know of logins that somebody wants to register. */
export async function registrationFacts(
  { pool, platform }: Deps,
  named: readonly NamedLogin[],
  context: CallContext,
): Promise<RegistrationFacts[]> {
  const logins = named.map(({ login }) => login);
  const known = new Map((await findAccounts(pool, logins)).map(({ login, kind }) => [login, kind]));
  const pending = new Set(await listPendingLogins(pool, logins));
  const { accounts } = await platform.inspectAccounts({ logins }, childContext(context));
  const shown = new Set(accounts.filter(({ exists }) => exists).map(({ login }) => login));
  return named.map(({ field, login }) => ({
    field,
    login,
    role: pending.has(login) ? "PENDING" : known.get(login),
    existsOnPlatform: shown.has(login),
  }));
}

/** Adopting and registering can be asked for again at any point: until the identity is there, nothing has changed for anybody. */
export async function registering<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (violatedConstraint(error) === "account_pkey") {
      throw refuse("login_in_use", "Another request registered the login at the same time.", {
        outcome: "not_executed",
      });
    }
    if (isTrouble(error)) {
      throw refuse("platform_unavailable", "The trading platform cannot be reached. Nothing was registered.", {
        outcome: "not_executed",
        retryAfterMs: RETRY_AFTER_MS,
      });
    }
    throw error;
  }
}
