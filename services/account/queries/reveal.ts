import type { CallContext } from "#kernel/contract/contract.ts";
import type {
  RevealInvestorRequest,
  RevealInvestorResponse,
  RevealMasterRequest,
  RevealMasterResponse,
} from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { countInvestorsOf, getInvestorByLogin, getMasterByLogin, masterMessage } from "../directory.ts";
import { decryptCredentials } from "../passwords.ts";
import type { Credential } from "../store/credentials.ts";

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
  return { master: masterMessage(master, investorsCount), ...(await passwordsOf(deps, credentials)) };
}

/** With both platform passwords, if the service created the account. */
export async function revealInvestor(deps: Deps, { login }: RevealInvestorRequest): Promise<RevealInvestorResponse> {
  const [investor, credentials] = await Promise.all([
    getInvestorByLogin(deps, login),
    deps.reads.credentialsByLogin(login),
  ]);
  return { investor, ...(await passwordsOf(deps, credentials)) };
}

type Revealed = { readonly mainPassword: string | undefined; readonly investorPassword: string | undefined };

async function passwordsOf(deps: Deps, credentials: readonly Credential[] = []): Promise<Revealed> {
  const passwords = await decryptCredentials(deps, credentials);
  return { mainPassword: passwords?.main.reveal(), investorPassword: passwords?.investor.reveal() };
}
