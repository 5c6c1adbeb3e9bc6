import process from "node:process";
import { expect, test } from "vitest";
import { isRunning, startIn, startOf } from "./process-start.ts";
import { zombie } from "../testing/zombie.ts";

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

test("this process runs since its start and no other, and a process that does not exist has none", () => {
  const start = startOf(process.pid);
  expect(start).toMatch(/^\d+$/);
  expect([isRunning(process.pid, start), isRunning(process.pid, "1"), startOf(0), isRunning(0, "")]).toEqual([
    true,
    false,
    "",
    false,
  ]);
});

test("a process that was killed does not run, also when its parent has not collected it yet", async () => {
  await using ended = await zombie();
  expect(startOf(ended.pid)).toBe("");
});
