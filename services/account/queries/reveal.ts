import type { CallContext } from "#kernel/contract/contract.ts";
import type {
  RevealInvestorRequest,
  RevealInvestorResponse,
  RevealMasterRequest,
  RevealMasterResponse,
} from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { provisioningKey, type ProvisionedRole } from "../domain/provisioning.ts";
import { investorMessage, masterMessage } from "../messages.ts";
import { decryptPasswords } from "../passwords.ts";
import { findOwnerOfLogin } from "../store/provisionings.ts";
import { countInvestors } from "./count-investors.ts";
import { getInvestorByLogin } from "./find-investor.ts";
import { getMasterByLogin } from "./get-master.ts";

/** With both platform passwords, if the service created the account. */
export async function revealMaster(
  deps: Deps,
  { login }: RevealMasterRequest,
  context: CallContext,
): Promise<RevealMasterResponse> {
  const master = await getMasterByLogin(deps, login);
  const counts = await countInvestors(deps, [login], context);
  return { master: masterMessage(master, counts.get(login) ?? 0n), ...(await passwordsOf(deps, login, "trading")) };
}

/** With both platform passwords, if the service created the account. */
export async function revealInvestor(deps: Deps, { login }: RevealInvestorRequest): Promise<RevealInvestorResponse> {
  const investor = await getInvestorByLogin(deps, login);
  return { investor: investorMessage(investor), ...(await passwordsOf(deps, login, "investor")) };
}

type Revealed = { readonly mainPassword: string | undefined; readonly investorPassword: string | undefined };

async function passwordsOf(deps: Deps, login: string, role: ProvisionedRole): Promise<Revealed> {
  const provisioning = await findOwnerOfLogin(deps.pool, login);
  const passwords = provisioning && (await decryptPasswords(deps, provisioningKey(provisioning, role)));
  return { mainPassword: passwords?.main.reveal(), investorPassword: passwords?.investor.reveal() };
}
