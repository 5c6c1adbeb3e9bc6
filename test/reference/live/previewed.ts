import { setTimeout as sleep } from "node:timers/promises";
import { isObject, itemsOf, type Json, textOf } from "../../../deploy/demo/exact-json.ts";
import type { Reply } from "../../journey/support/client.ts";
import { codeOf, retryWhileBusy, TEMPORARY } from "./live.ts";

/** A command, the preview of it, and the members that both answers have. */
export type Previewed = {
  readonly preview: () => Promise<Reply>;
  readonly send: () => Promise<Reply>;
  readonly members: readonly string[];
  /** Everything that blocks the command by the reference. */
  readonly blocked?: readonly string[];
};

export type Answered = {
  readonly reply: Reply;
  /** What the preview has said otherwise than the answer of the command; empty when it was right. */
  readonly differences: readonly string[];
};

/** Previews a command and sends it: the answer has to be what the preview says. */
export async function sendPreviewed({ preview, send, members, blocked }: Previewed): Promise<Answered> {
  const previewed = await untilNothingPasses(preview);
  const reply = await retryWhileBusy(send);
  return { reply, differences: [...differencesOf(previewed, reply, members), ...reasonsOf(previewed, blocked)] };
}

const RETRY_MS = 200;
const TIMEOUT_MS = 60_000;

/** A command waits for what passes, and a preview reports it when it takes longer. */
async function untilNothingPasses(preview: () => Promise<Reply>): Promise<Reply> {
  for (const until = Date.now() + TIMEOUT_MS; ;) {
    const reply = await preview();
    const [first] = codesOf(reply);
    const isPassing = first !== undefined && TEMPORARY.includes(first);
    if (!isPassing || Date.now() > until) return reply;
    await sleep(RETRY_MS);
  }
}

function codesOf({ body }: Reply): string[] {
  return itemsOf(body["blocking"] ?? []).map((reason) => textOf(reason, "code"));
}

/** What passes by itself is not in the reference, which knows no time between its steps. */
function reasonsOf(previewed: Reply, blocked: readonly string[] | undefined): string[] {
  if (previewed.status !== 200 || blocked === undefined) return [];
  const codes = codesOf(previewed).filter((code) => !TEMPORARY.includes(code));
  if (codes.join(" ") === blocked.join(" ")) return [];
  return [
    `the preview says ${codes.join(" ") || "nothing"} blocks it, and the reference ${blocked.join(" ") || "nothing"}`,
  ];
}

function differencesOf(previewed: Reply, reply: Reply, members: readonly string[]): string[] {
  if (previewed.status !== 200) return same("status", `${previewed.status} ${codeOf(previewed)}`, answerOf(reply));
  const [first] = codesOf(previewed);
  if (first !== undefined) return same("the first reason", `409 ${first}`, answerOf(reply));
  if (reply.status !== 200) return [`the preview allows it, and the answer is ${answerOf(reply)}`];
  return members.flatMap((path) => same(path, textAt(previewed, path), foreseen(textAt(reply, path))));
}

/** A preview says what would be withdrawn, where the command says what was. */
function foreseen(text: string): string {
  return text.replace("Withdrew", "Would withdraw").replace("nothing was withdrawn", "nothing would be withdrawn");
}

function answerOf(reply: Reply): string {
  return reply.status === 503 ? `409 ${codeOf(reply)}` : `${reply.status} ${codeOf(reply)}`;
}

function same(name: string, previewed: string, real: string): string[] {
  return previewed === real ? [] : [`${name}: the preview says ${previewed}, and the command ${real}`];
}

function textAt({ body }: Reply, path: string): string {
  const inner = (value: Json | undefined, name: string) => (isObject(value) ? value[name] : undefined);
  return JSON.stringify(path.split(".").reduce<Json | undefined>(inner, body)) ?? "missing";
}
