import type { Client } from "../../client/index.ts";

/** A page that is not full reaches the end of the log, and events of this type are so few that it hardly ever is. */
const RARE_TYPE = "review.obsolete";
const LIMIT = 500;

/** The id of the newest event. */
export async function endOfLog(client: Client, signal?: AbortSignal): Promise<bigint> {
  const options = signal === undefined ? {} : { signal };
  let page = await client.query("listEvents", { query: { types: RARE_TYPE, limit: LIMIT } }, options);
  while (page.has_more) {
    const query = { types: RARE_TYPE, limit: LIMIT, after: page.next_cursor };
    page = await client.query("listEvents", { query }, options);
  }
  return page.next_cursor;
}
