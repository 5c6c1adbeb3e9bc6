import type { Deps } from "../deps.ts";
import { noteShown, readUnlisted } from "../protocol/unshown-accounts.ts";
import { findWitness, listUnshown } from "../store/unshown-accounts.ts";

/** Accounts of one request, beside the one that the platform has to show in the same answer. */
const PER_REQUEST = 99;
/** Requests of one run; the next one goes on behind them. */
const MAX_REQUESTS = 50;
/** Accounts that one run asks for alone, where the platform does not answer for those of a list that it has. */
const MAX_ALONE = 20;

/**
 * Looks for accounts that are shown again. One request asks for many of them together with an account that the platform shows: an answer with that one
 * alone says that none has returned. Ten thousand archived accounts cost a hundred requests in some minutes, and no account is asked for alone.
 */
export function findReturned(deps: Deps): () => Promise<boolean> {
  let after = "";
  return async () => {
    const witness = await findWitness(deps.pool);
    let alone = MAX_ALONE;
    for (let requests = 0; requests < MAX_REQUESTS; requests += 1) {
      const logins = (await listUnshown(deps.pool, after, PER_REQUEST)).map(({ login }) => login);
      const shown = witness === undefined ? undefined : await deps.mt5.findUsersBeside(witness, logins);
      if (shown === undefined && logins.length > 0) {
        const asked = logins.slice(0, alone);
        await readUnlisted(deps, asked);
        alone -= asked.length;
        after = asked.at(-1) ?? after;
        if (alone === 0) return false;
      } else after = logins.at(-1) ?? "";
      for (const login of shown ?? []) await noteShown(deps, login);
      if (logins.length < PER_REQUEST) {
        after = "";
        return false;
      }
    }
    return false;
  };
}
