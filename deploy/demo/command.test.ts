import { expect, test } from "vitest";
import type { Api } from "./api.ts";
import { beRefused, type Command, type Crm, execute } from "./command.ts";
import { textOf } from "./exact-json.ts";
import type { Outcome } from "./outcome.ts";
import type { Narrator } from "./terminal.ts";

const QUIET: Narrator = { title: () => {}, step: () => {}, request: () => {}, result: () => {}, note: () => {} };
const LOST: Outcome = { kind: "unknown", why: "connection lost" };
const BUSY: Outcome = { kind: "not_executed", why: "busy", waitMs: 0 };
const DONE: Outcome = { kind: "done", answer: { status: 200, retryAfterMs: undefined, text: "", body: { id: "7" } } };

/** A service that answers one after the other, and counts. */
function crm(...outcomes: Outcome[]): Crm & { sent: () => number } {
  let sent = 0;
  const send: Api["send"] = async () => outcomes[sent++] ?? LOST;
  return { api: { send, read: async () => null }, tell: QUIET, sent: () => sent };
}

/** A command whose effect shows when it is looked for so many times. */
function command(shownAtLook: number): Command<string> {
  let looks = 0;
  return {
    call: { method: "POST", path: "/do" },
    settledWithinMs: 0,
    read: (answer) => `answered ${textOf(answer, "id")}`,
    findEffect: async () => ((looks += 1) >= shownAtLook ? "found" : undefined),
  };
}

const NEVER = Number.POSITIVE_INFINITY;

test("what was surely not executed is sent again, without looking for an effect", async () => {
  const seller = crm(BUSY, BUSY, DONE);
  expect(await execute(seller, command(1))).toBe("answered 7");
  expect(seller.sent()).toBe(3);
});

test("what may have been executed is looked for, and found is not sent again", async () => {
  const seller = crm(LOST);
  expect(await execute(seller, command(1))).toBe("found");
  expect(seller.sent()).toBe(1);
});

test("what left no trace is sent again", async () => {
  const seller = crm(LOST, DONE);
  expect(await execute(seller, command(NEVER))).toBe("answered 7");
  expect(seller.sent()).toBe(2);
});

test("once in doubt, its effect is looked for before every further try", async () => {
  const seller = crm(LOST, BUSY, DONE);
  // Looked for twice after the loss; the third look is the one after the busy answer.
  expect(await execute(seller, command(3))).toBe("found");
  expect(seller.sent()).toBe(2);
});

test("a final no ends it, unless it was the repetition of something that had been done", async () => {
  const no = refused("already_subscribed");
  await expect(execute(crm(no), command(1))).rejects.toThrow("409 already_subscribed");
  expect(await execute(crm(LOST, no), command(3))).toBe("found");
});

test("a request that has to be refused is refused with the right code, or the demo fails", async () => {
  const call = command(NEVER).call;
  await beRefused(crm(BUSY, refused("exit_in_progress")), call, ["exit_in_progress"]);
  await expect(beRefused(crm(DONE), call, ["exit_in_progress"])).rejects.toThrow("had to be refused");
  await expect(beRefused(crm(refused("unauthorized")), call, ["exit_in_progress"])).rejects.toThrow("unauthorized");
});

function refused(code: string): Outcome {
  return { kind: "refused", answer: { status: 409, retryAfterMs: undefined, text: "", body: { code, detail: "No." } } };
}
