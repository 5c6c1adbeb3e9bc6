import { type Client, isProblem, type Models } from "../../../client/index.ts";

export type FoundMaster = {
  readonly profile: Models["MasterProfile"];
  readonly status: Models["MasterStatus"];
};

/** The Master with a login; undefined when there is none. */
export async function findMaster(client: Client, login: string, signal: AbortSignal): Promise<FoundMaster | undefined> {
  try {
    const path = { master_login: login };
    const profile = await client.query("getMasterProfileByLogin", { path }, { signal });
    const status = await client.query("getMasterStatus", { path: { master_id: profile.id } }, { signal });
    return { profile, status };
  } catch (error) {
    if (isProblem(error, "master_not_found")) return undefined;
    throw error;
  }
}
