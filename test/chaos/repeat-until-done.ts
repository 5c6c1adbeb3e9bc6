import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, json, type Reply } from "../journey/support/client.ts";

const PAUSE_MS = 250;
const TIMEOUT_MS = 120_000;

/**
 * Repeats a command under one idempotency key until it is executed or waits (202), as docs/integrate/money.md asks of a client. It is executed
 * once, even when answers are lost. Throws on a final refusal.
 */
export async function repeatUntilDone({ send }: Client, path: string, body?: object): Promise<Reply> {
  const key = randomUUID();
  const init = body === undefined ? { headers: {} } : json(body);
  const request = { ...init, method: "POST", headers: { ...init.headers, "idempotency-key": key } };
  let last = "no answer";
  for (const until = Date.now() + TIMEOUT_MS; Date.now() < until; await sleep(PAUSE_MS)) {
    const reply = await send(path, request).catch((): undefined => undefined);
    if (reply?.status === 200 || reply?.status === 202) return reply;
    last = reply?.text ?? "no answer";
    if (reply !== undefined && isFinal(reply)) break;
  }
  throw new Error(`${path}: ${last}`);
}

/** A conflict without `retry-after` is final. */
function isFinal({ status, headers }: Reply): boolean {
  if (status === 409) return headers.get("retry-after") === null;
  return status < 500 && status !== 429;
}
