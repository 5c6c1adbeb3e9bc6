import type { CallContext } from "#kernel/contract/contract.ts";
import { fittingPage, pageSize } from "#kernel/values/page.ts";
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
} from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import type { Profile } from "../domain/profile.ts";
import { listInvestors as readInvestors } from "../store/investors.ts";
import { listMasters as readMasters } from "../store/masters.ts";
import { type AccountPage, getProfile } from "../store/profiles.ts";
import type { Master } from "../domain/master.ts";
import {
  countInvestors,
  countInvestorsOf,
  findClosing,
  getInvestorById,
  getMasterById,
  masterMessage,
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
  return { master: masterMessage(master, count), ...profile };
}

export async function getInvestorProfile(deps: Deps, { id }: GetInvestorProfileRequest): Promise<InvestorProfile> {
  const investor = await getInvestorById(deps, id);
  return { investor, ...(await getProfile(deps.pool, investor.login)) };
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
  request: ListMastersRequest,
  context: CallContext,
): Promise<ListMastersResponse> {
  const { items, hasMore } = await pageOf(request, (page) => readMasters(deps.pool, page));
  const logins = items.map(({ login }) => login);
  const counts = await countInvestors(deps, logins, context);
  return {
    items: items.map(({ email, labels, ...master }) => ({
      master: masterMessage(master, counts.get(master.login) ?? 0n),
      email,
      labels,
    })),
    hasMore,
  };
}

export async function listInvestors(
  { pool }: Pick<Deps, "pool">,
  request: ListInvestorsRequest,
): Promise<ListInvestorsResponse> {
  const { items, hasMore } = await pageOf(request, (page) => readInvestors(pool, page));
  return { items: items.map(({ email, labels, ...investor }) => ({ investor, email, labels })), hasMore };
}

async function pageOf<Account extends Profile>(
  { filter, afterId, limit }: ListInvestorsRequest,
  read: (page: AccountPage) => Promise<Account[]>,
): Promise<{ items: Account[]; hasMore: boolean }> {
  const size = pageSize(limit);
  return fittingPage(await read({ filter, afterId, limit: size + 1 }), size, ({ labels }) => labels);
}
