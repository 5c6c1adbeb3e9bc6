import {
  AccountKind,
  type FindAccountsRequest,
  type FindAccountsResponse,
  type FindInvestorRequest,
  type FindMasterRequest,
  type FindPaymentAccountsRequest,
  type FindPaymentAccountsResponse,
  type GetMasterRequest,
  type Investor as InvestorMessage,
  type Master as MasterMessage,
  type RevealInvestorRequest,
  type RevealInvestorResponse,
  type RevealMasterRequest,
  type RevealMasterResponse,
} from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { getInvestorByLogin, getMasterById, getMasterByLogin, masterMessage, countInvestorsOf } from "../directory.ts";
import { findAccounts as readAccounts } from "../store/accounts.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import { refuse } from "../refusals.ts";
import { listPaymentAccounts } from "../store/payment-account-changes.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { decryptCredentials } from "../passwords.ts";
import type { Credential } from "../store/credentials.ts";

export async function getMaster(deps: Deps, { id }: GetMasterRequest): Promise<MasterMessage> {
  return masterMessage(await getMasterById(deps, id));
}

export async function findMaster(deps: Deps, { login }: FindMasterRequest): Promise<MasterMessage> {
  return masterMessage(await getMasterByLogin(deps, login));
}

export async function findInvestor(deps: Deps, { login }: FindInvestorRequest): Promise<InvestorMessage> {
  return await getInvestorByLogin(deps, login);
}

export async function findAccounts({ pool }: Deps, { logins }: FindAccountsRequest): Promise<FindAccountsResponse> {
  const accounts = await readAccounts(pool, logins);
  return { accounts: accounts.map(({ kind, ...account }) => ({ ...account, kind: AccountKind[kind] })) };
}

/** A change is recorded after platform has taken the account over, but before fees are paid to it. */
export async function findPaymentAccounts(
  { pool }: Pick<Deps, "pool">,
  { logins }: FindPaymentAccountsRequest,
): Promise<FindPaymentAccountsResponse> {
  if (logins.length > MAX_PAGE_SIZE) {
    throw refuse("validation_failed", `A request has at most ${MAX_PAGE_SIZE} logins.`);
  }
  return await listPaymentAccounts(pool, logins);
}

/** With both platform passwords, if the service created the account. */
export async function revealMaster(
  deps: Deps,
  { login }: RevealMasterRequest,
  context: CallContext,
): Promise<RevealMasterResponse> {
  const master = await getMasterByLogin(deps, login);
  const [investorsCount, credentials] = await Promise.all([
    countInvestorsOf(deps, login, context),
    deps.reads.credentialsByLogin(login),
  ]);
  return { master: masterMessage(master, investorsCount), ...passwordsOf(deps, credentials) };
}

/** With both platform passwords, if the service created the account. */
export async function revealInvestor(deps: Deps, { login }: RevealInvestorRequest): Promise<RevealInvestorResponse> {
  const [investor, credentials] = await Promise.all([
    getInvestorByLogin(deps, login),
    deps.reads.credentialsByLogin(login),
  ]);
  return { investor, ...passwordsOf(deps, credentials) };
}

type Revealed = { readonly mainPassword: string | undefined; readonly investorPassword: string | undefined };

function passwordsOf(deps: Deps, credentials: readonly Credential[] = []): Revealed {
  const passwords = decryptCredentials(deps, credentials);
  return { mainPassword: passwords?.main.reveal(), investorPassword: passwords?.investor.reveal() };
}
