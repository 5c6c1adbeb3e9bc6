import type { Deps } from "../deps.ts";
import { personOf } from "../mt5/users.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import { refuse } from "../refusals.ts";
import { listUnknownNamed } from "../store/unknown-accounts.ts";

/** Accounts of the same name that one request compares: each is a request to the platform. */
const MAX_COMPARED = 10;

export type NewPerson = {
  readonly group: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
};

/**
 * After a restore of the database, or while a creation does not end, the account of a person may exist on the platform only, and a
 * caller without an answer may ask for it under another key. While operators have not decided about such an account, a request of the
 * same person is not executed.
 */
export async function refuseDuplicateAccount({ pool, mt5 }: Deps, { group, ...person }: NewPerson): Promise<void> {
  const { name, email } = personOf(person);
  for (const login of await listUnknownNamed(pool, { group, name }, MAX_COMPARED)) {
    const shown = await orUnavailable(mt5.getUser(login));
    if (shown === undefined || shown.email.toLowerCase() !== email.toLowerCase()) continue;
    throw refuse(
      "possible_duplicate_account",
      `Account ${login} of the same person was created by this service, which has no complete record of it. Nothing was created now.`,
      { outcome: "not_executed", details: { mt5_login: login } },
    );
  }
}
