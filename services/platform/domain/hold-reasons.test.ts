import { expect, test } from "vitest";
import { type HoldFacts, holdReasons } from "./hold-reasons.ts";
import { legNumber } from "./leg-number.ts";

const LOST = { login: "9001", dealId: 7n, amountMinor: -1n, comment: "x", operationId: "op-1" };
const LEG = { number: legNumber(5n), isOutcomeOpen: false };
const codesOf = (facts: Omit<HoldFacts, "login">) => holdReasons({ login: "9001", ...facts }).map(({ code }) => code);

test.each<[string, Omit<HoldFacts, "login">, string[]]>([
  ["nothing is against it", {}, []],
  ["the history is being read", { gate: "reading" }, ["platform_unavailable"]],
  ["operators have to decide", { gate: "stopped" }, ["safety_stop"]],
  ["the account is stopped", { isStopped: true }, ["safety_stop"]],
  ["an equal withdrawal was lost", { lost: LOST }, ["possible_duplicate"]],
  ["another owner has it", { hasOwner: true }, ["account_busy"]],
  ["a leg is in progress", { obstacle: LEG }, ["account_busy"]],
  ["the account cannot be read", { isReadable: false }, ["account_busy"]],
])("%s", (_, facts, codes) => {
  expect(codesOf(facts)).toEqual(codes);
});

test("all reasons are found at once, and a busy account names the leg once", () => {
  const all = {
    gate: "reading",
    isStopped: true,
    lost: LOST,
    hasOwner: true,
    obstacle: LEG,
    isReadable: false,
  };
  const reasons = holdReasons({ login: "9001", ...all, gate: "reading" });
  expect(reasons.map(({ code, operationId }) => [code, operationId])).toEqual([
    ["platform_unavailable", undefined],
    ["safety_stop", undefined],
    ["possible_duplicate", "op-1"],
    ["account_busy", "5"],
  ]);
});
