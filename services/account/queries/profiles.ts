import { labelsToProto } from "#kernel/contract/labels.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { pageOf, pageSize } from "#kernel/page.ts";
import type {
  GetInvestorProfileRequest,
  GetMasterProfileRequest,
  InvestorProfile,
  MasterProfile,
  SearchAccountsRequest,
  SearchInvestorsResponse,
  SearchMastersResponse,
} from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { countInvestors, countInvestorsOf, getInvestorById, getMasterById } from "../directory.ts";
import type { Profile } from "../domain/profile.ts";
import { masterMessage } from "../messages.ts";
import { type AccountSearch, listInvestorsFound, listMastersFound } from "../store/account-search.ts";
import { findProfile } from "../store/profiles.ts";

/** A page of profiles fits into one message of the broker, whatever clients tell of accounts. */
const MAX_PAGE_BYTES = 512 * 1_024;

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
  return { master: masterMessage(master, count), ...told(profile) };
}

export async function getInvestorProfile(deps: Deps, { id }: GetInvestorProfileRequest): Promise<InvestorProfile> {
  const investor = await getInvestorById(deps, id);
  return { investor, ...told(await findProfile(deps.pool, "INVESTOR", investor.login)) };
}

export async function searchMasters(
  deps: Deps,
  request: SearchAccountsRequest,
  context: CallContext,
): Promise<SearchMastersResponse> {
  const { size, search } = searchOf(request);
  const { items, hasMore } = fitting(await listMastersFound(deps.pool, search), size);
  const logins = items.map(({ master }) => master.login);
  const counts = await countInvestors(deps, logins, context);
  return {
    items: items.map(({ master, ...profile }) => ({
      master: masterMessage(master, counts.get(master.login) ?? 0n),
      ...told(profile),
    })),
    hasMore,
  };
}

export async function searchInvestors(
  { pool }: Pick<Deps, "pool">,
  request: SearchAccountsRequest,
): Promise<SearchInvestorsResponse> {
  const { size, search } = searchOf(request);
  const { items, hasMore } = fitting(await listInvestorsFound(pool, search), size);
  return { items: items.map(({ investor, ...profile }) => ({ investor, ...told(profile) })), hasMore };
}

function searchOf(request: SearchAccountsRequest): { size: number; search: AccountSearch } {
  const size = pageSize(request.limit);
  const { namePrefix, email, externalId } = request;
  return { size, search: { ...request, namePrefix, email, externalId, limit: size + 1 } };
}

/** The first items of a page that fit; at least one. */
function fitting<Item extends Profile>(rows: readonly Item[], size: number): { items: Item[]; hasMore: boolean } {
  const { items, hasMore } = pageOf(rows, size);
  let bytes = 0;
  const tooFar = items.findIndex(({ labels }, index) => {
    bytes += Buffer.byteLength(JSON.stringify(labels));
    return index > 0 && bytes > MAX_PAGE_BYTES;
  });
  return tooFar < 0 ? { items, hasMore } : { items: items.slice(0, tooFar), hasMore: true };
}

function told({ email, labels }: Profile): Pick<InvestorProfile, "email" | "labels"> {
  return { email, labels: labelsToProto(labels) };
}
