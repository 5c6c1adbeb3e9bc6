import { type Client, isProblem, type Models } from "../../../client/index.ts";

/** Undefined when there is none, or not any more. */
export async function findBreak(client: Client, id: string, signal: AbortSignal): Promise<Models["Break"] | undefined> {
  try {
    return await client.query("getBreak", { path: { break_id: id } }, { signal });
  } catch (error) {
    if (isProblem(error, "break_not_found")) return undefined;
    throw error;
  }
}
