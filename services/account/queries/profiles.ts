import type { CallContext } from "#kernel/contract/contract.ts";
import { fittingPage, pageSize } from "#kernel/page.ts";
import type {
  GetInvestorProfileRequest,
  GetMasterProfileRequest,
  InvestorProfile,
  MasterProfile,
  SearchInvestorsRequest,
  SearchInvestorsResponse,
  SearchMastersResponse,
} from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { countInvestors, countInvestorsOf, getInvestorById, getMasterById } from "../directory.ts";
import { checkAll } from "../domain/checks.ts";
import { masterMessage, profileFields } from "../messages.ts";
import { type AccountSearch, listInvestorsFound, listMastersFound } from "../store/account-search.ts";
import { findProfile } from "../store/profiles.ts";

export async function getMasterProfile(
  deps: Deps,
  { id }: GetMasterProfileRequest,
  context: CallContext,
): Promise<MasterProfile> {
  const master = await getMasterById(deps, id);
  const [profile, count] = await Promise.all([
    findProfile(deps.pool, "MASTER", master.login),
    countInvestorsOf(deps, master.login, context),
  ]);
  return { master: masterMessage(master, count), ...profileFields(profile) };
}

export async function getInvestorProfile(deps: Deps, { id }: GetInvestorProfileRequest): Promise<InvestorProfile> {
  const investor = await getInvestorById(deps, id);
  return { investor, ...profileFields(await findProfile(deps.pool, "INVESTOR", investor.login)) };
}

export async function searchMasters(
  deps: Deps,
  request: SearchInvestorsRequest,
  context: CallContext,
): Promise<SearchMastersResponse> {
  const { size, search } = searchOf(request);
  const { items, hasMore } = fittingPage(await listMastersFound(deps.pool, search), size, ({ labels }) => labels);
  const logins = items.map(({ master }) => master.login);
  const counts = await countInvestors(deps, logins, context);
  return {
    items: items.map(({ master, ...profile }) => ({
      master: masterMessage(master, counts.get(master.login) ?? 0n),
      ...profileFields(profile),
    })),
    hasMore,
  };
}

export async function searchInvestors(
  { pool }: Pick<Deps, "pool">,
  request: SearchInvestorsRequest,
): Promise<SearchInvestorsResponse> {
  const { size, search } = searchOf(request);
  const { items, hasMore } = fittingPage(await listInvestorsFound(pool, search), size, ({ labels }) => labels);
  return { items: items.map(({ investor, ...profile }) => ({ investor, ...profileFields(profile) })), hasMore };
}

const NO_PLACE = { field: "after_name", code: "required", message: "after_name is required in a list by name." };

function searchOf(request: SearchInvestorsRequest): { size: number; search: AccountSearch } {
  const size = pageSize(request.limit);
  const { namePrefix, email, externalId, afterId, afterName } = request;
  checkAll(namePrefix !== undefined && afterId !== 0n && afterName === undefined ? NO_PLACE : undefined);
  return { size, search: { ...request, namePrefix, email, externalId, afterName, limit: size + 1 } };
}
