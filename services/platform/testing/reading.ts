import { readWholeLogin } from "../amendments/deleted-deals.ts";
import type { Deps } from "../deps.ts";
import { readLogin } from "../protocol/history/read-history.ts";
import { noteAccounts, type ReadAccounts } from "../protocol/unshown-accounts.ts";

/** How checks read accounts, as the service has it. */
export function readingOf(deps: Deps) {
  return {
    readLogin: (login: string) => readLogin(deps, login),
    readWholeLogin: (login: string) => readWholeLogin(deps, login),
    noteAccounts: (read: ReadAccounts) => noteAccounts(deps, read),
  };
}
