import { expect } from "vitest";
import { openKeySystem } from "../../../services/edge/identity/keys/open-key-system.ts";
import { runCommand } from "../../../services/edge/identity/keys/run-command.ts";
import { itemsOf, type JsonObject, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, eventually, json, type Reply } from "./client.ts";
import type { RunningSystem } from "./system.ts";

const URL = "/api/v1/ops/reviews";

/** The API key of another operator, with the scope `ops` only. */
export function newOperator(system: RunningSystem, name: string): Promise<string> {
  return newKey(system, name, "ops");
}

/** As `make keys` makes it, in this process; `scopes` are separated by commas. While this process is busy, the database may end the connection. */
export async function newKey(system: RunningSystem, name: string, scopes: string): Promise<string> {
  return await eventually(() => makeKey(system, name, scopes));
}

async function makeKey({ stateDir }: RunningSystem, name: string, scopes: string): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const printed: string[] = [];
  const terminal = { out: (line: string) => void printed.push(line), note: (line: string) => void printed.push(line) };
  const open = (actor: string | undefined) => openKeySystem(stack, { PAMM_STATE_DIR: stateDir }, terminal.note, actor);
  await runCommand(["create", "--name", name, "--scopes", scopes], open, terminal);
  const [key] = /pamm_\S+/.exec(printed.join("\n")) ?? [];
  if (key === undefined) throw new Error(`no key was printed: ${printed.join("\n")}`);
  return key;
}

/** Waits for the only open review of an account with this reason. */
export async function reviewAbout(
  client: Client,
  login: string,
  reason: string,
  withinMs?: number,
): Promise<JsonObject> {
  return await eventually(async () => {
    const { status, body, text } = await client.get(URL);
    expect(status, text).toBe(200);
    expect(body["unreachable"]).toEqual([]);
    const found = itemsOf(body["items"]).filter((item) => item["login"] === login && item["reason"] === reason);
    expect(found, text).toHaveLength(1);
    return found[0] ?? {};
  }, withinMs);
}

/** One vote on a review; by default with the key of the client. */
export function vote(client: Client, review: JsonObject, action: string, key?: string): Promise<Reply> {
  const { body, headers } = json({ id: textOf(review, "id"), action, note: "Checked." });
  const own = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return client.send(URL, { method: "POST", body, headers: { ...headers, ...own } });
}

/** A proposal of the client, whose key is that of an operator, and its approval by a second one. */
export async function decide(client: Client, review: JsonObject, action: string, second: string): Promise<void> {
  await propose(client, review, action);
  await approve(client, review, action, second);
}

/** The quiet period, a complete run of the checks, and a history that is read again to explain what they have found. */
const RESUMED_WITHIN_MS = 90_000;

/**
 * As `decide`; the second operator repeats the approval until permits have been stopped for a quiet period, and the checks of balances
 * and deals hold.
 */
export async function resumePermits(client: Client, review: JsonObject, second: string): Promise<void> {
  await propose(client, review, "resume");
  await eventually(() => approve(client, review, "resume", second), RESUMED_WITHIN_MS);
}

async function propose(client: Client, review: JsonObject, action: string): Promise<void> {
  const { status, body, text } = await vote(client, review, action);
  expect([status, body["state"]], text).toEqual([200, "proposed"]);
}

async function approve(client: Client, review: JsonObject, action: string, key: string): Promise<void> {
  const { status, body, text } = await vote(client, review, action, key);
  expect([status, body["state"]], text).toEqual([200, "decided"]);
}
