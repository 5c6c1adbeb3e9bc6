import { type Client, isProblem, type Models } from "../../../client/index.ts";

export type FoundMaster = Models["MasterProfileWithState"];

/** The Master with a login; undefined when there is none. */
export async function findMaster(client: Client, login: string, signal: AbortSignal): Promise<FoundMaster | undefined> {
  try {
    return await client.query("getMasterProfileByLogin", { path: { master_login: login } }, { signal });
  } catch (error) {
    if (isProblem(error, "master_not_found")) return undefined;
    throw error;
  }
}
