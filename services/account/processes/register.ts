import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import type { Refusal } from "#kernel/refusal.ts";
import { isTransientFailure } from "#kernel/transient-failure.ts";
import type { Deps } from "../deps.ts";
import type { RegistrationFacts } from "../domain/decide-registration.ts";
import { refuse } from "../refusals.ts";
import { findAccounts } from "../store/accounts.ts";
import { listPendingLogins } from "../store/provisionings.ts";

export type NamedLogin = Pick<RegistrationFacts, "field" | "login">;

/** The role of each login here, and whether it exists on the trading platform. */
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

type Registration<T> = {
  /** What an earlier call with the same command id registered. */
  readonly find: () => Promise<T | undefined>;
  /** Safe to repeat after a failure at any point: the Master or Investor is inserted last. */
  readonly register: () => Promise<T>;
};

/** Registers once per command id; a repeated or concurrent call with the id is answered with what was registered. */
export async function registerOnce<T>({ find, register }: Registration<T>): Promise<T> {
  const before = await find().catch((error: unknown) => {
    throw isTransientFailure(error) ? unavailable("service_unavailable", "The directory cannot be read") : error;
  });
  if (before !== undefined) return before;
  try {
    return await register();
  } catch (error) {
    const registered = await find();
    if (registered !== undefined) return registered;
    if (violatedConstraint(error) === "account_pkey") {
      throw refuse("login_in_use", "Another request registered the login at the same time.", {
        outcome: "not_executed",
      });
    }
    throw isTransientFailure(error)
      ? unavailable("platform_unavailable", "The trading platform cannot be reached")
      : error;
  }
}

function unavailable(code: "service_unavailable" | "platform_unavailable", why: string): Refusal {
  return refuse(code, `${why}. Nothing was registered.`, { outcome: "not_executed" });
}
