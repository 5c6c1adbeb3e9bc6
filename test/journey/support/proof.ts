import { expect } from "vitest";
import { itemsOf, type JsonObject, objectOf, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, eventually, minorOf, type Reply } from "./client.ts";
import type { Pool } from "./trading.ts";

export function proofOf(client: Client, { login }: Pool, seconds = 20): Promise<Reply> {
  return client.get(`/api/v1/info/master/${login}/proof?wait=${seconds}`);
}

export function listBreaks(client: Client): Promise<Reply> {
  return client.get("/api/v1/ops/breaks?limit=100");
}

export function cents(sums: JsonObject, name: string): bigint {
  return minorOf(textOf(sums, name));
}

/** Each account of the proof has its expected balance on the platform and in the ledger, with nothing in flight. */
export async function expectConverged(
  client: Client,
  pool: Pool,
  expected: Readonly<Record<string, string>>,
): Promise<void> {
  const { body, text } = await eventually(async () => {
    const reply = await proofOf(client, pool);
    expect(reply.status, reply.text).toBe(200);
    return reply;
  });
  expect(body["converged"], text).toBe(true);
  const accounts = [objectOf(body, "master"), ...itemsOf(body["investors"] ?? [])];
  const found = accounts.map((account) => [textOf(account, "mt5_login"), cents(account, "platform_balance")]);
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.entries(expected).map(([login, amount]) => [login, minorOf(amount)])),
  );
  for (const account of accounts) {
    expect(cents(account, "ledger_balance")).toBe(cents(account, "platform_balance"));
    for (const name of ["in_flight", "quarantined", "difference"]) expect(cents(account, name)).toBe(0n);
  }
  const total = Object.values(expected).reduce((sum, amount) => sum + minorOf(amount), 0n);
  expect(cents(objectOf(body, "total"), "platform_balance")).toBe(total);
}

const NOTHING_OPEN_WITHIN_MS = 150_000;

/** After a restore: no check has an open break, no review is open, and the Master is proven. */
export async function expectNothingOpen(client: Client, master: string): Promise<void> {
  await eventually(async () => {
    for (const list of ["breaks", "reviews"]) {
      const { body, text } = await client.get(`/api/v1/ops/${list}`);
      expect(body["items"], text).toEqual([]);
    }
    const { body, text } = await client.get(`/api/v1/info/master/${master}/proof`);
    expect(body, text).toMatchObject({ converged: true });
  }, NOTHING_OPEN_WITHIN_MS);
}
