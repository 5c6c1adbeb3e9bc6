import type { CallContext } from "#kernel/contract/contract.ts";
import type {
  RevealInvestorRequest,
  RevealInvestorResponse,
  RevealMasterRequest,
  RevealMasterResponse,
} from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { countInvestorsOf, getInvestorByLogin, getMasterByLogin } from "../directory.ts";
import { provisioningKey, type ProvisionedRole } from "../domain/provisioning.ts";
import { masterMessage } from "../messages.ts";
import { decryptPasswords } from "../passwords.ts";
import { findOwnerOfLogin } from "../store/provisionings.ts";

/** With both platform passwords, if the service created the account. */
export async function revealMaster(
  deps: Deps,
  { login }: RevealMasterRequest,
  context: CallContext,
): Promise<RevealMasterResponse> {
  const master = await getMasterByLogin(deps, login);
  const investorsCount = await countInvestorsOf(deps, login, context);
  return { master: masterMessage(master, investorsCount), ...(await passwordsOf(deps, login, "trading")) };
}

/** With both platform passwords, if the service created the account. */
export async function revealInvestor(deps: Deps, { login }: RevealInvestorRequest): Promise<RevealInvestorResponse> {
  const investor = await getInvestorByLogin(deps, login);
  return { investor, ...(await passwordsOf(deps, login, "investor")) };
}

type Revealed = { readonly mainPassword: string | undefined; readonly investorPassword: string | undefined };

async function passwordsOf(deps: Deps, login: string, role: ProvisionedRole): Promise<Revealed> {
  const provisioning = await findOwnerOfLogin(deps.pool, login);
  const passwords = provisioning && (await decryptPasswords(deps, provisioningKey(provisioning, role)));
  return { mainPassword: passwords?.main.reveal(), investorPassword: passwords?.investor.reveal() };
}
