import { randomUUID } from "node:crypto";
import { isObject, type JsonObject } from "../demo/exact-json.ts";
import { type Answer, type Call, exchange } from "../demo/http.ts";
import { type Outcome, outcomeOf } from "../demo/outcome.ts";
import { DemoFailure, poll } from "../demo/wait.ts";

/** One API key at one address of the service. */
export type Access = { readonly url: string; readonly apiKey: string };

const REPEATED = { withinMs: 120_000, everyMs: 250 };

export async function send({ url, apiKey }: Access, call: Call, key?: string): Promise<Outcome> {
  return outcomeOf(await exchange({ url, headers: headersOf(apiKey, key) }, call));
}

/** A read; also one that is refused is an answer. */
export async function read(access: Access, path: string): Promise<Answer> {
  const { url, apiKey } = access;
  const reply = await exchange({ url, headers: headersOf(apiKey) }, { method: "GET", path });
  if (reply.kind === "answered") return reply.answer;
  throw new DemoFailure(`GET ${path}: ${reply.why}`);
}

/** Repeats a command under its Idempotency-Key until it was executed, as callers do. */
export async function untilDone(access: () => Access, call: Call, key: string = randomUUID()): Promise<JsonObject> {
  let last = "no answer yet";
  return await poll(
    { ...REPEATED, what: `${call.method} ${call.path}` },
    async () => {
      const outcome = await send(access(), call, key);
      if (outcome.kind === "done") return isObject(outcome.answer.body) ? outcome.answer.body : {};
      last = outcome.kind === "refused" ? outcome.answer.text : outcome.why;
      return undefined;
    },
    () => last,
  );
}

function headersOf(apiKey: string, key?: string): Record<string, string> {
  return { authorization: `Bearer ${apiKey}`, ...(key === undefined ? {} : { "idempotency-key": key }) };
}
