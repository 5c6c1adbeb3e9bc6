import { callContext } from "#kernel/contract/context.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import { byKey, type GatheredRead, gatherReads } from "#kernel/batches/gather-reads.ts";
import type { FindAccountsResponse } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { listVisibleSubscriptions } from "../store/subscription-lists.ts";
import { listOpenSubscriptions, type Subscription } from "../store/subscriptions.ts";

type KnownAccount = FindAccountsResponse["accounts"][number];

/** Reads of one login each: those that wait at the same time are one statement, or one call of account. */
export type GatheredReads = {
  /** ASSIGNING, ACTIVE or PAUSED. */
  readonly openSubscription: GatheredRead<string, Subscription>;
  /** ACTIVE, PAUSED or CANCELLED, ascending by id; one more than a page where there are more. */
  readonly visibleSubscriptions: GatheredRead<string, readonly Subscription[]>;
  /** Role and name of a login, undefined when no account has it. */
  readonly account: GatheredRead<string, KnownAccount>;
};

/** Leaves the caller time for its own answer. */
const READ_WITHIN_MS = 3_000;

export function gatheredReads({ pool, accounts }: Pick<Deps, "pool" | "accounts">): GatheredReads {
  return {
    openSubscription: gatherReads(async (logins) =>
      byKey(await listOpenSubscriptions(pool, logins), ({ investorLogin }) => investorLogin),
    ),
    visibleSubscriptions: gatherReads(async (logins) =>
      Map.groupBy(
        await listVisibleSubscriptions(pool, logins, MAX_PAGE_SIZE + 1),
        ({ investorLogin }) => investorLogin,
      ),
    ),
    account: gatherReads(async (logins) => {
      const context = callContext({ caller: "subscription", withinMs: READ_WITHIN_MS });
      const known = await accounts.findAccounts({ logins: [...logins] }, context);
      return byKey(known.accounts, ({ login }) => login);
    }),
  };
}
