import { type Client, isProblem, type Models } from "../../../client/index.ts";

/** Undefined when there is none, or not any more. */
export async function findReview(
  client: Client,
  id: string,
  signal: AbortSignal,
): Promise<Models["Review"] | undefined> {
  try {
    return await client.query("getReview", { path: { review_id: id } }, { signal });
  } catch (error) {
    if (isProblem(error, "review_not_found")) return undefined;
    throw error;
  }
}
