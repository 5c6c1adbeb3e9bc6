import type { CallContext } from "#kernel/contract/contract.ts";
import { fittingPage, LOST_PLACE, pageOf, pageSize } from "#kernel/page.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import {
  type GetInvestorProfileRequest,
  type GetMasterProfileRequest,
  type GetMasterStatusRequest,
  type InvestorProfile,
  type ListInvestorsRequest,
  type ListInvestorsResponse,
  type ListMastersRequest,
  type ListMastersResponse,
  type MasterProfile,
  MasterState,
  type MasterStatus,
  type SearchInvestorsRequest,
  type SearchInvestorsResponse,
  type SearchMastersResponse,
} from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { checkAll } from "../domain/checks.ts";
import type { Profile } from "../domain/profile.ts";
import { masterMessage, profileFields } from "../messages.ts";
import { refuse } from "../refusals.ts";
import { type AccountSearch, listInvestorsFound, listMastersFound } from "../store/account-search.ts";
import { findInvestorById, listInvestors as readInvestors } from "../store/investors.ts";
import { findMasterById, listMasters as readMasters } from "../store/masters.ts";
import { getProfile } from "../store/profiles.ts";
import type { Master } from "../domain/master.ts";
import {
  countInvestors,
  countInvestorsOf,
  findClosing,
  getInvestorById,
  getMasterById,
  stateOf,
} from "../directory.ts";

export async function getMasterProfile(
  deps: Deps,
  { id }: GetMasterProfileRequest,
  context: CallContext,
): Promise<MasterProfile> {
  const master = await getMasterById(deps, id);
  const [profile, count] = await Promise.all([
    getProfile(deps.pool, master.login),
    countInvestorsOf(deps, master.login, context),
  ]);
  return { master: masterMessage(master, count), ...profileFields(profile) };
}

export async function getInvestorProfile(deps: Deps, { id }: GetInvestorProfileRequest): Promise<InvestorProfile> {
  const investor = await getInvestorById(deps, id);
  return { investor, ...profileFields(await getProfile(deps.pool, investor.login)) };
}

export async function searchMasters(
  deps: Deps,
  request: SearchInvestorsRequest,
  context: CallContext,
): Promise<SearchMastersResponse> {
  const { items, hasMore } = await pageFound(deps.pool, request, listMastersFound, findMasterById);
  const logins = items.map(({ login }) => login);
  const counts = await countInvestors(deps, logins, context);
  return {
    items: items.map(({ email, externalId, metadata, ...master }) => ({
      master: masterMessage(master, counts.get(master.login) ?? 0n),
      ...profileFields({ email, externalId, metadata }),
    })),
    hasMore,
  };
}

export async function searchInvestors(
  { pool }: Pick<Deps, "pool">,
  request: SearchInvestorsRequest,
): Promise<SearchInvestorsResponse> {
  const { items, hasMore } = await pageFound(pool, request, listInvestorsFound, findInvestorById);
  return {
    items: items.map(({ email, externalId, metadata, ...investor }) => ({
      investor,
      ...profileFields({ email, externalId, metadata }),
    })),
    hasMore,
  };
}

const NO_PLACE = { field: "after_name", code: "required", message: "after_name is required in a list by name." };

async function pageFound<Account extends Profile>(
  pool: Queryable,
  request: SearchInvestorsRequest,
  list: (db: Queryable, search: AccountSearch) => Promise<Account[]>,
  find: (db: Queryable, id: bigint) => Promise<unknown>,
): Promise<{ items: Account[]; hasMore: boolean }> {
  const { namePrefix, afterId, afterName } = request;
  checkAll(namePrefix !== undefined && afterId !== 0n && afterName === undefined ? NO_PLACE : undefined);
  const size = pageSize(request.limit);
  const rows = await list(pool, { ...request, limit: size + 1 });
  // By creation the place of a page is that of the row of its cursor.
  const hasPlace = rows.length > 0 || namePrefix !== undefined || afterId === 0n || (await find(pool, afterId));
  if (!hasPlace) throw refuse("invalid_cursor", LOST_PLACE.message, { errors: [LOST_PLACE] });
  return fittingPage(rows, size, ({ externalId, metadata }) => ({ externalId, metadata }));
}

/** Where a Master is in its life. */
export async function getMasterStatus(
  deps: Deps,
  { id }: GetMasterStatusRequest,
  context: CallContext,
): Promise<MasterStatus> {
  const master = await getMasterById(deps, id);
  const { login } = master;
  const closing = await findClosing(deps, login, context);
  switch (stateOf(closing)) {
    case undefined:
      return { id, login, ...openness(master), closing: undefined };
    case "archived":
      return { id, login, state: MasterState.ARCHIVED, since: closing?.archivedAt, closing: undefined };
    case "closing": {
      const { investorsLeft = 0n, exitsInProgress = 0n, progressedAt: lastProgressAt, blockedBy } = closing ?? {};
      const progress = { investorsLeft, exitsInProgress, lastProgressAt, blockedBy };
      return { id, login, state: MasterState.CLOSING, since: closing?.requestedAt, closing: progress };
    }
  }
}

function openness({ acceptingInvestors, acceptingSince: since }: Master): Pick<MasterStatus, "state" | "since"> {
  return { state: acceptingInvestors ? MasterState.OPEN : MasterState.NOT_ACCEPTING, since };
}

export async function listMasters(
  deps: Deps,
  { afterId, limit }: ListMastersRequest,
  context: CallContext,
): Promise<ListMastersResponse> {
  const size = pageSize(limit);
  const { items: masters, hasMore } = pageOf(await readMasters(deps.pool, { afterId, limit: size + 1 }), size);
  const counts = await countInvestors(
    deps,
    masters.map(({ login }) => login),
    context,
  );
  return { items: masters.map((master) => masterMessage(master, counts.get(master.login) ?? 0n)), hasMore };
}

export async function listInvestors(
  deps: Deps,
  { afterId, limit }: ListInvestorsRequest,
): Promise<ListInvestorsResponse> {
  const size = pageSize(limit);
  return pageOf(await readInvestors(deps.pool, { afterId, limit: size + 1 }), size);
}
