import { expect, test } from "vitest";
import { type Fault, NO_FAULT, strike } from "./fault.ts";

const NONE: ReadonlySet<string> = new Set();

function aFault(overrides: Partial<Fault> = {}): Fault {
  return {
    id: 1,
    command: "trade/balance",
    parameter: undefined,
    effect: { kind: "drop_before" },
    delayMs: 100,
    after: 0,
    times: 1,
    ...overrides,
  };
}

test("a fault starts after its number of calls, applies its number of times and is removed", () => {
  let faults: readonly Fault[] = [aFault({ after: 2, times: 2 })];
  const hits: boolean[] = [];
  for (let call = 0; call < 6; call += 1) {
    const struck = strike(faults, "trade/balance", NONE);
    faults = struck.faults;
    hits.push(struck.verdict.dropBefore);
  }
  expect(hits).toEqual([false, false, true, true, false, false]);
  expect(faults).toEqual([]);
});

test("other commands are not affected and do not count", () => {
  const faults = [aFault()];
  expect(strike(faults, "user/get", NONE)).toEqual({ faults, verdict: NO_FAULT });
});

test("a fault of one parameter hits and counts only calls with it", () => {
  const faults = [aFault({ command: "deal/get_batch", parameter: "group" })];
  expect(strike(faults, "deal/get_batch", new Set(["login", "from"]))).toEqual({ faults, verdict: NO_FAULT });
  expect(strike(faults, "deal/get_batch", new Set(["group", "from"]))).toMatchObject({
    faults: [],
    verdict: { dropBefore: true },
  });
});

test("of several answers the first is used, of several delays the longest", () => {
  const { verdict } = strike(
    [
      aFault({ effect: { kind: "http", status: 500 } }),
      aFault({ effect: { kind: "retcode", retcode: 9 } }),
      aFault({ effect: { kind: "delay" }, delayMs: 10 }),
      aFault({ effect: { kind: "delay" }, delayMs: 30 }),
      aFault({ effect: { kind: "hide_deal" }, delayMs: 5 }),
      aFault({ effect: { kind: "late_apply" }, delayMs: 7, command: "*" }),
      aFault({ effect: { kind: "cut_comment" } }),
      aFault({ effect: { kind: "drop_after" } }),
    ],
    "trade/balance",
    NONE,
  );
  expect(verdict).toEqual({
    dropBefore: false,
    dropAfter: true,
    instead: { status: 500 },
    delayMs: 30,
    lateMs: 7,
    hideMs: 5,
    cutsComment: true,
  });
});
