import { byKey, type GatheredRead, gatherReads } from "#kernel/batches/gather-reads.ts";
import { callContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import { LOST_PLACE, MAX_PAGE_SIZE, pageOf } from "#kernel/values/page.ts";
import { AccountKind, type FindAccountsResponse } from "#proto/pamm/account/v1/account.ts";
import type {
  CountActiveInvestorsRequest,
  CountActiveInvestorsResponse,
  FindOpenSubscriptionRequest,
  FindOpenSubscriptionResponse,
  FindPooledResponse,
  GetActiveMasterRequest,
  GetActiveMasterResponse,
  ListActiveInvestorsRequest,
  ListActiveInvestorsResponse,
  ListSubscriptionsRequest,
  ListSubscriptionsResponse,
  SearchSubscriptionsRequest,
  SearchSubscriptionsResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { isInPool } from "../domain/lifecycle.ts";
import { subscriptionMessage, wantedStatuses } from "../messages/subscription.ts";
import {
  countActiveInvestors as readCounts,
  hasStarted,
  listActiveInvestors as readActiveInvestors,
  listSubscriptions as readSubscriptions,
  listSubscriptionsByStart,
  listVisibleSubscriptions,
  type SubscriptionFilter,
} from "../store/subscription-lists.ts";
import { listOpenSubscriptions, type Subscription } from "../store/subscriptions.ts";
import { refuse } from "../refusals.ts";
import { isBetween, isNotNegative, validate } from "../domain/validate.ts";
import { isPageSize } from "./page.ts";

type KnownAccount = FindAccountsResponse["accounts"][number];

/** Reads of one login each: those that wait at the same time are one statement, or one call of account. */
type GatheredReads = {
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

/** Lists subscriptions. Unknown logins match no subscription, so the account service is not called. */
export async function listSubscriptions(
  { pool, visibleSubscriptions }: Pick<Deps, "pool"> & Pick<GatheredReads, "visibleSubscriptions">,
  { masterLogin, investorLogin, status, afterId, limit }: ListSubscriptionsRequest,
): Promise<ListSubscriptionsResponse> {
  validate(isNotNegative("after_id", afterId), isPageSize(limit));
  const statuses = wantedStatuses(status);
  const filter = { masterLogin, investorLogin, statuses, afterId, limit: limit + 1 };
  const ofInvestor = investorLogin === "" ? undefined : ((await visibleSubscriptions(investorLogin)) ?? []);
  const isWhole = ofInvestor !== undefined && ofInvestor.length <= MAX_PAGE_SIZE;
  const rows = isWhole ? ofInvestor.filter(matches(filter)) : await readSubscriptions(pool, filter);
  const { items, hasMore } = pageOf(rows, limit);
  return { items: items.map(subscriptionMessage), hasMore };
}

function matches({ masterLogin, statuses, afterId }: SubscriptionFilter): (subscription: Subscription) => boolean {
  return (each) =>
    each.id > afterId &&
    (masterLogin === "" || each.masterLogin === masterLogin) &&
    statuses.some((status) => status === each.status);
}

/** The ACTIVE or PAUSED subscription of an Investor. Calls no other service: an unknown Investor has none. */
export async function findOpenSubscription(
  { openSubscription }: GatheredReads,
  { investorLogin }: FindOpenSubscriptionRequest,
): Promise<FindOpenSubscriptionResponse> {
  const open = await openSubscription(investorLogin);
  const isVisible = open !== undefined && open.status !== "ASSIGNING";
  return { subscription: isVisible ? subscriptionMessage(open) : undefined };
}

/** The Master that an Investor follows now. Refuses an unknown Investor. */
export async function getActiveMaster(
  { accounts, account, openSubscription }: Pick<Deps, "accounts"> & GatheredReads,
  { investorLogin }: GetActiveMasterRequest,
  context: CallContext,
): Promise<GetActiveMasterResponse> {
  const open = await openSubscription(investorLogin);
  if (open === undefined || !isInPool(open.status)) {
    await failAsUnavailable(() => accounts.findInvestor({ login: investorLogin }, context));
    return { masterLogin: undefined, name: undefined, startedAt: undefined };
  }
  const master = await failAsUnavailable(() => account(open.masterLogin));
  return { masterLogin: open.masterLogin, name: master?.name, startedAt: open.startedAt ?? undefined };
}

/** The Investors in a Master's pool now, with their names. */
export async function listActiveInvestors(
  { pool, accounts, account }: Pick<Deps, "pool" | "accounts"> & Pick<GatheredReads, "account">,
  { masterLogin, afterInvestorId, limit }: ListActiveInvestorsRequest,
  context: CallContext,
): Promise<ListActiveInvestorsResponse> {
  validate(isNotNegative("after_investor_id", afterInvestorId), isPageSize(limit));
  const owner = await failAsUnavailable(() => account(masterLogin));
  // Refuses, and says what the login is.
  if (owner?.kind !== AccountKind.MASTER) {
    await failAsUnavailable(() => accounts.findMaster({ login: masterLogin }, context));
  }
  const rows = await readActiveInvestors(pool, { masterLogin, afterInvestorId, limit: limit + 1 });
  const { items: investors, hasMore } = pageOf(rows, limit);
  if (investors.length === 0) return { items: [], hasMore };
  const logins = investors.map(({ investorLogin }) => investorLogin);
  const known = await failAsUnavailable(() => accounts.findAccounts({ logins }, context));
  const names = new Map(known.accounts.map(({ login, name }) => [login, name]));
  const items = investors.map(({ investorId: id, investorLogin: login }) => ({
    id,
    login,
    name: names.get(login) ?? login,
  }));
  return { items, hasMore };
}

/** Counts the active Investors of many Masters in one call; Masters without any are left out. */
export async function countActiveInvestors(
  { pool }: Deps,
  { masterLogins }: CountActiveInvestorsRequest,
): Promise<CountActiveInvestorsResponse> {
  validate(isBetween("master_logins", masterLogins.length, 1, MAX_PAGE_SIZE));
  return { counts: await readCounts(pool, masterLogins) };
}

/** A page of subscriptions, newest first. */
export async function searchSubscriptions(
  { pool }: Pick<Deps, "pool">,
  { masterLogin, investorLogin, status, from, to, beforeId, limit }: SearchSubscriptionsRequest,
): Promise<SearchSubscriptionsResponse> {
  validate(isNotNegative("before_id", beforeId), isPageSize(limit));
  const statuses = wantedStatuses(status);
  const search = { masterLogin, investorLogin, statuses, from, to, beforeId, limit: limit + 1 };
  const rows = await listSubscriptionsByStart(pool, search);
  if (rows.length === 0 && beforeId !== 0n && !(await hasStarted(pool, beforeId))) {
    throw refuse("invalid_cursor", LOST_PLACE.message, { errors: [LOST_PLACE] });
  }
  const { items, hasMore } = pageOf(rows, limit);
  return { items: items.map(subscriptionMessage), hasMore };
}

/** An assignment is recorded before its account is locked. A subscription that is PAUSED has money in the pool, or on its way. */
export async function findPooled(
  { pool }: Pick<Deps, "pool">,
  investorLogins: readonly string[],
): Promise<FindPooledResponse> {
  if (investorLogins.length > MAX_PAGE_SIZE) {
    throw refuse("validation_failed", `A request has at most ${MAX_PAGE_SIZE} logins.`);
  }
  const open = await listOpenSubscriptions(pool, investorLogins);
  const loginsOf = (isJoining: boolean) =>
    open.filter(({ status }) => (status === "ASSIGNING") === isJoining).map(({ investorLogin }) => investorLogin);
  return { pooled: loginsOf(false), joining: loginsOf(true) };
}
