import { expect, test } from "vitest";
import type { Api } from "./api.ts";
import { expectRefusal, type Command, type Crm, execute } from "./command.ts";
import { textOf } from "./exact-json.ts";
import type { Outcome } from "./outcome.ts";
import type { Printer } from "./printer.ts";

const QUIET: Printer = { title: () => {}, step: () => {}, request: () => {}, result: () => {}, note: () => {} };
const LOST: Outcome = { kind: "unknown", why: "connection lost" };
const BUSY: Outcome = { kind: "not_executed", why: "busy", waitMs: 0 };
const DONE: Outcome = { kind: "done", answer: { status: 200, retryAfterMs: undefined, text: "", body: { id: "7" } } };

/** A service that returns the outcomes in order and counts the requests. */
function crm(...outcomes: Outcome[]): Crm & { sent: () => number } {
  let sent = 0;
  const send: Api["send"] = async () => outcomes[sent++] ?? LOST;
  return { api: { send, read: async () => null }, print: QUIET, sent: () => sent };
}

/** A command whose effect is found by read number `visibleAtRead` and later ones. */
function command(visibleAtRead: number): Command<string> {
  let reads = 0;
  return {
    call: { method: "POST", path: "/do" },
    settledWithinMs: 0,
    read: (answer) => `answered ${textOf(answer, "id")}`,
    findEffect: async () => ((reads += 1) >= visibleAtRead ? "found" : undefined),
  };
}

const NEVER = Number.POSITIVE_INFINITY;

test("a command that was not executed is sent again at once", async () => {
  const client = crm(BUSY, BUSY, DONE);
  expect(await execute(client, command(1))).toBe("answered 7");
  expect(client.sent()).toBe(3);
});

test("a command whose effect is found after a lost answer is not sent again", async () => {
  const client = crm(LOST);
  expect(await execute(client, command(1))).toBe("found");
  expect(client.sent()).toBe(1);
});

test("a command whose effect is not found after a lost answer is sent again", async () => {
  const client = crm(LOST, DONE);
  expect(await execute(client, command(NEVER))).toBe("answered 7");
  expect(client.sent()).toBe(2);
});

test("after a lost answer the effect is searched for before every further attempt", async () => {
  const client = crm(LOST, BUSY, DONE);
  // Two reads follow the lost answer; the third follows the busy answer.
  expect(await execute(client, command(3))).toBe("found");
  expect(client.sent()).toBe(2);
});

test("a refusal is final, unless the effect of the command is found", async () => {
  const refusal = refused("already_subscribed");
  await expect(execute(crm(refusal), command(1))).rejects.toThrow("409 already_subscribed");
  expect(await execute(crm(LOST, refusal), command(3))).toBe("found");
});

test("the demo fails unless an invalid request is refused with the expected code", async () => {
  const call = command(NEVER).call;
  await expectRefusal(crm(BUSY, refused("exit_in_progress")), call, ["exit_in_progress"]);
  await expect(expectRefusal(crm(DONE), call, ["exit_in_progress"])).rejects.toThrow("was not refused");
  await expect(expectRefusal(crm(refused("unauthorized")), call, ["exit_in_progress"])).rejects.toThrow("unauthorized");
});

function refused(code: string): Outcome {
  return { kind: "refused", answer: { status: 409, retryAfterMs: undefined, text: "", body: { code, detail: "No." } } };
}
