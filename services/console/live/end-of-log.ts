import type { Client } from "../../client/index.ts";

/** The id of the newest event. */
export async function endOfLog(client: Client, signal?: AbortSignal): Promise<bigint> {
  const options = signal === undefined ? {} : { signal };
  const { next_cursor: end } = await client.query("listEvents", { query: { begin: "latest", limit: 1 } }, options);
  return end;
}
