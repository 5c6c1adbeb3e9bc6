import { expect } from "vitest";
import { isObject, type JsonObject, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, json, type Reply } from "./client.ts";

export function closeMaster({ post }: Client, id: string): Promise<Reply> {
  return post(`/api/v1/master/${id}/close`);
}

export function patchMaster({ send }: Client, id: string, change: object): Promise<Reply> {
  return send(`/api/v1/master/${id}`, { method: "PATCH", ...json(change) });
}

/** State, and what keeps a closing from going on. */
export async function statusOf(
  { get }: Client,
  id: string,
): Promise<{ readonly state: string; readonly closing: JsonObject }> {
  const { status, body, text } = await get(`/api/v1/master/${id}/profile`);
  expect(status, text).toBe(200);
  const { closing = null } = body;
  return { state: textOf(body, "state"), closing: isObject(closing) ? closing : {} };
}

/** The statuses of all subscriptions of a Master. */
export async function subscriptionsOf({ get }: Client, login: string): Promise<string[]> {
  const { items } = await get(`/api/v1/info/subscriptions?master_login=${login}`);
  return items.map((item) => textOf(item, "status")).toSorted();
}
