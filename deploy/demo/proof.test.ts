import { expect, test } from "vitest";
import type { Entry, Funds } from "./funds.ts";
import type { Deal } from "./platform.ts";
import { prove } from "./proof.ts";

const AT_ONCE = { withinMs: 0, everyMs: 0 };
const ENTRY: Entry = { login: "7", reference: "demo-x-01", minor: 100_00n, ticket: "900" };
const DEAL: Deal = { ticket: "900", comment: "PD00000000000A demo-x-01", minor: 100_00n, isTrade: false, timeMs: 0 };

/** A platform with these deals on one account. */
function fundsWith({ deals = [DEAL], balance = 100_00n, shown = "100" }): Funds & { lines: string[] } {
  const lines: string[] = [];
  const print = {
    title: () => {},
    step: () => {},
    request: () => {},
    result: () => {},
    note: (text: string) => lines.push(text),
  };
  return {
    lines,
    print,
    api: { read: async () => ({ ok: true, balance: shown }), send: () => Promise.reject(new Error("nothing is sent")) },
    ledger: { runId: "x", entries: [ENTRY] },
    platform: {
      deals: async () => deals,
      balance: async () => balance,
      positions: async () => [],
      send: () => Promise.reject(new Error("nothing is sent")),
    },
  };
}

const ACCOUNT = { role: "Ines", login: "7", expected: 100_00n, isExact: true };

test("the proof succeeds when every balance and every deal is as expected", async () => {
  expect(await prove(fundsWith({}), [ACCOUNT], AT_ONCE)).toBe(true);
});

test.each([
  [
    "a balance that differs by a cent",
    { balance: 100_01n },
    "the balance of the platform is 100.01, expected 100.00, off by 0.01",
  ],
  ["an API with another balance", { shown: "99.99" }, "the balance of the API is 99.99, expected 100.00, off by -0.01"],
  ["a movement that was executed twice", { deals: [DEAL, { ...DEAL, ticket: "901" }] }, "900 of 100.00, 901 of 100.00"],
  ["a movement that was lost", { deals: [] }, "expected deal 900 of 100.00, found none"],
  ["another ticket than in the answer", { deals: [{ ...DEAL, ticket: "5" }] }, "expected deal 900 of 100.00, found 5"],
  [
    "unmatched deals that cancel out",
    { deals: [DEAL, unmatchedDeal(1n), unmatchedDeal(-1n)] },
    "3 deals for 1 movements",
  ],
] as const)("%s is reported and fails the proof", async (_what, facts, difference) => {
  const funds = fundsWith({ ...facts, deals: [...("deals" in facts ? facts.deals : [DEAL])] });
  expect(await prove(funds, [ACCOUNT], AT_ONCE)).toBe(false);
  expect(funds.lines.join("\n")).toContain(difference);
});

function unmatchedDeal(minor: bigint): Deal {
  return { ticket: "1", comment: "", minor, isTrade: false, timeMs: 0 };
}
