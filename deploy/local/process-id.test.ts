import process from "node:process";
import { expect, test } from "vitest";
import { startIn, startOf } from "./process-id.ts";

function statOf(state: string, threads: number): string {
  return `5285 (name) of) ${state} 5282 5282 4378 0 -1 4227084 3016 6516 4 0 5 1 5 2 20 0 ${threads} 0 2288034 0 0`;
}

test.each([
  ["a running process", statOf("S", 11), "2288034"],
  ["a process whose last threads still end", statOf("Z", 2), "2288034"],
  ["a process that has ended and is not collected yet", statOf("Z", 1), ""],
])("%s", (_case, stat, start) => {
  expect(startIn(stat)).toBe(start);
});

test("this process has a start, and a process that does not exist has none", () => {
  expect([startOf(process.pid), startOf(0)]).toEqual([expect.stringMatching(/^\d+$/), ""]);
});
