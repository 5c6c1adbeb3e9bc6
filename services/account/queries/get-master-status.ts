import { type GetMasterStatusRequest, MasterState, type MasterStatus } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { getMasterById } from "../directory.ts";

/** Where a Master is in its life. */
export async function getMasterStatus(deps: Deps, { id }: GetMasterStatusRequest): Promise<MasterStatus> {
  const { login, acceptingInvestors, acceptingSince: since } = await getMasterById(deps, id);
  return { id, login, state: acceptingInvestors ? MasterState.OPEN : MasterState.NOT_ACCEPTING, since };
}
