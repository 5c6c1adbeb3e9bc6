import type { Master as MasterMessage } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { masterMessage } from "../messages.ts";
import { getMasterById } from "../queries/get-master.ts";
import { findAnsweredMaster } from "../store/answered-masters.ts";

/** The Master as the command was answered about it the first time. */
export async function answerMasterAgain(deps: Deps, id: bigint, commandId: string): Promise<MasterMessage> {
  const { investorsCount = 0n, ...answered } = (await findAnsweredMaster(deps.pool, commandId)) ?? {};
  return masterMessage({ ...(await getMasterById(deps, id)), ...answered }, investorsCount);
}
