import type { Client, Models } from "../../../client/index.ts";

export type FoundMaster = Models["MasterProfileWithState"];

/** The Master with a login; undefined when there is none. */
export async function findMaster(client: Client, login: string, signal: AbortSignal): Promise<FoundMaster | undefined> {
  const { items } = await client.query("listMasterProfiles", { query: { mt5_login: login } }, { signal });
  const [master] = items;
  if (master === undefined) return undefined;
  return await client.query("getMasterProfile", { path: { master_id: master.id } }, { signal });
}
