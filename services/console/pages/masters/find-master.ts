import type { Client, Models } from "../../../client/index.ts";

export type FoundMaster = {
  readonly profile: Models["MasterProfile"];
  readonly status: Models["MasterStatus"];
};

const LIMIT = 100;

/** The Master with a login. The API reads one by its id, so the list is read until it comes; undefined when it does not. */
export async function findMaster(client: Client, login: string, signal: AbortSignal): Promise<FoundMaster | undefined> {
  for await (const profile of client.items("listMasterProfiles", { query: { limit: LIMIT } }, { signal })) {
    if (profile.mt5_login !== login) continue;
    const status = await client.query("getMasterStatus", { path: { master_id: profile.id } }, { signal });
    return { profile, status };
  }
  return undefined;
}
