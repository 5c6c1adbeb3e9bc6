import { expect } from "vitest";
import { itemsOf, type JsonObject, textOf } from "../../../deploy/demo/exact-json.ts";
import type { Client } from "./client.ts";
import { expectNotEarly } from "./shown-state.ts";

/** All events that were read, and those that a route shows. */
export type Followed = { readonly seen: readonly JsonObject[]; readonly compared: readonly JsonObject[] };

type Following = {
  readonly after: string;
  readonly types?: string;
  readonly isOver: (seen: readonly JsonObject[]) => boolean;
};

/** Reads on from the cursor; compares each event with its route when it arrives. */
export async function followEvents(client: Client, { after, types = "*", isOver }: Following): Promise<Followed> {
  const seen: JsonObject[] = [];
  const compared: JsonObject[] = [];
  for (let cursor = after; !isOver(seen);) {
    const { status, body, text } = await client.get(`/api/v1/events?after=${cursor}&types=${types}&wait=5&limit=3`);
    expect(status, text).toBe(200);
    for (const event of itemsOf(body["items"])) {
      seen.push(event);
      if (await expectNotEarly(client, event)) compared.push(event);
    }
    cursor = textOf(body, "next_cursor");
  }
  return { seen, compared };
}

/** The cursor behind all events so far. */
export async function newestEvent({ get }: Client): Promise<string> {
  for (let after = "0"; ;) {
    const { body } = await get(`/api/v1/events?after=${after}&limit=500`);
    after = textOf(body, "next_cursor");
    if (body["has_more"] === false) return after;
  }
}
