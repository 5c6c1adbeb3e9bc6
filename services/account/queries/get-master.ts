import type { FindMasterRequest, GetMasterRequest, Master as MasterMessage } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import type { Master } from "../domain/master.ts";
import { masterMessage } from "../messages.ts";
import { refuse } from "../refusals.ts";
import { findMasterById, findMasterByLogin } from "../store/masters.ts";
import { whyNotFound } from "./not-found.ts";

export async function getMaster(deps: Deps, { id }: GetMasterRequest): Promise<MasterMessage> {
  return masterMessage(await getMasterById(deps, id));
}

export async function findMaster(deps: Deps, { login }: FindMasterRequest): Promise<MasterMessage> {
  return masterMessage(await getMasterByLogin(deps, login));
}

export async function getMasterById({ pool }: Deps, id: bigint): Promise<Master> {
  const master = await findMasterById(pool, id);
  if (master === undefined) {
    throw refuse("master_not_found", `No Master has the id ${id}. This route takes the internal id, not the login.`);
  }
  return master;
}

export async function getMasterByLogin({ pool }: Deps, login: string): Promise<Master> {
  const master = await findMasterByLogin(pool, login);
  if (master === undefined) {
    throw refuse("master_not_found", await whyNotFound(pool, login, "Master"));
  }
  return master;
}
