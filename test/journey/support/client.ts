import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { parseDecimal } from "#kernel/values/money.ts";
import { isObject, itemsOf, type Json, type JsonObject, parseExact, textOf } from "../../../deploy/demo/exact-json.ts";
import type { RunningSystem } from "./system.ts";

type Addresses = Pick<ReturnType<RunningSystem["info"]>, "url" | "apiKey" | "simulatorControlUrl">;

export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Numbers keep their text; empty unless the body is an object. */
  readonly body: JsonObject;
  /** Elements when the body is an array. */
  readonly items: readonly JsonObject[];
};

export type Client = {
  readonly get: (path: string) => Promise<Reply>;
  readonly post: (path: string, body?: object) => Promise<Reply>;
  readonly send: (path: string, init: RequestInit) => Promise<Reply>;
  /** The simulator's control API. */
  readonly control: (method: "GET" | "POST" | "DELETE", path: string, body?: object) => Promise<Json>;
};

export type Deal = { readonly ticket: string; readonly minor: bigint; readonly comment: string };

/** A connection for each request: a server may close an idle one just when a request is sent on it. */
const CLOSE = { connection: "close" };

export function clientOf(system: { readonly info: () => Addresses }): Client {
  const { url, apiKey, simulatorControlUrl } = system.info();
  const send = async (path: string, { headers, ...init }: RequestInit): Promise<Reply> => {
    const authorization = `Bearer ${apiKey}`;
    const response = await fetch(url + path, { ...init, headers: { ...CLOSE, authorization, ...(headers as object) } });
    const text = await response.text();
    const value = parseExact(text);
    const body = isObject(value) ? value : {};
    return { status: response.status, headers: response.headers, text, body, items: Array.isArray(value) ? value : [] };
  };
  return {
    send,
    get: (path) => send(path, { method: "GET" }),
    post: (path, body) => send(path, { method: "POST", ...(body === undefined ? {} : json(body)) }),
    async control(method, path, body) {
      const { headers, ...sent } = body === undefined ? { headers: {} } : json(body);
      const init = { method, ...sent, headers: { ...CLOSE, ...headers } };
      const response = await fetch(`${simulatorControlUrl}/control/${path}`, init);
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
      return parseExact(text) ?? null;
    },
  };
}

/** Answers after which an integrator repeats the request under its key. */
const OUTCOME_OPEN = ["request_timeout", "service_unavailable", "outcome_unknown", "operation_in_progress"];
const REPEAT_MS = 250;
const REPEAT_WITHIN_MS = 60_000;

/** Sends each command under an Idempotency-Key and repeats it until its outcome is known, as an integrator does. */
export function untilKnown(client: Client): Client {
  const post: Client["post"] = async (path, body) => {
    const { headers, ...sent } = body === undefined ? { headers: {} } : json(body);
    const init = { method: "POST", ...sent, headers: { ...headers, "idempotency-key": randomUUID() } };
    for (const until = Date.now() + REPEAT_WITHIN_MS; ; await sleep(REPEAT_MS)) {
      const reply = await client.send(path, init);
      if (!OUTCOME_OPEN.includes(textOf({ code: "", ...reply.body }, "code")) || Date.now() > until) return reply;
    }
  };
  return { ...client, post };
}

/** The same system with another API key. */
export function withKey(client: Client, key: string): Client {
  const send: Client["send"] = (path, init) =>
    client.send(path, { ...init, headers: { authorization: `Bearer ${key}`, ...(init.headers as object) } });
  return { ...client, send };
}

export function json(body: object): { readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  return { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

export async function dealsOf({ control }: Client, login: string): Promise<Deal[]> {
  const deals = itemsOf(await control("GET", `accounts/${login}/deals`));
  return deals.map((deal) => ({
    ticket: textOf(deal, "deal"),
    comment: textOf(deal, "comment"),
    minor: ["profit", "swap", "commission"].reduce((sum, name) => sum + minorOf(textOf(deal, name)), 0n),
  }));
}

export async function platformBalanceOf({ control }: Client, login: string): Promise<bigint> {
  const account = await control("GET", `accounts/${login}`);
  return minorOf(textOf(isObject(account) ? account : {}, "balance"));
}

export function minorOf(text: string): bigint {
  const minor = parseDecimal(text);
  if (minor === undefined) throw new Error(`${text} is no amount`);
  return minor;
}

/** A check may send dozens of requests, so the pauses between its repetitions grow. */
const POLL_MS = { first: 100, last: 500, growth: 1.5 };

/** Repeats the check until it passes; throws the last error when the time is over. */
export async function eventually<T>(check: () => Promise<T>, withinMs = 60_000): Promise<T> {
  const until = Date.now() + withinMs;
  for (let pauseMs = POLL_MS.first; ; pauseMs = Math.min(POLL_MS.last, pauseMs * POLL_MS.growth)) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > until) throw error;
    }
    await sleep(pauseMs);
  }
}
