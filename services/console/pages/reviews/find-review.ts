import type { Client, Models } from "../../../client/index.ts";

type Review = Models["Review"];

/** The API lists reviews and has no route for one. Undecided ones come first, because they are few. */
export async function findReview(client: Client, id: string, signal: AbortSignal): Promise<Review | undefined> {
  for (const state of [undefined, "decided"] as const) {
    const query = { limit: 100, ...(state === undefined ? {} : { state }) };
    for await (const review of client.items("listReviews", { query }, { signal })) {
      if (review.id === id) return review;
    }
  }
  return undefined;
}
