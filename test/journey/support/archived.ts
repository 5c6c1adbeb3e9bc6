import { expect } from "vitest";
import { itemsOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, eventually, json, type Reply } from "./client.ts";

/** Two runs of the checks. */
const ARCHIVED_WITHIN_MS = 90_000;

/** What the service says about an account that the platform does not show; nothing before it has noticed that. */
export async function stateOf({ get }: Client, login: string): Promise<unknown> {
  const { status, body, text: shown } = await get("/api/v1/ops/archived-accounts?limit=100");
  expect(status, shown).toBe(200);
  return itemsOf(body["items"]).find((item) => item["mt5_login"] === login)?.["state"];
}

/** Waits until the check was not shown these accounts, once or in two runs. */
export async function untilState(
  client: Client,
  state: "not_shown" | "archived",
  ...logins: readonly string[]
): Promise<void> {
  await eventually(async () => {
    for (const login of logins) expect(await stateOf(client, login)).toBe(state);
  }, ARCHIVED_WITHIN_MS);
}

export async function archive(client: Client, ...logins: readonly string[]): Promise<void> {
  for (const login of logins) await client.control("POST", `accounts/${login}/archive`, {});
  await untilState(client, "archived", ...logins);
}

export async function changePaymentAccount({ send }: Client, id: string, login: string): Promise<Reply> {
  return await send(`/api/v1/master/${id}`, { method: "PATCH", ...json({ payment_account_login: login }) });
}
