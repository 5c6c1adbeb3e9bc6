import { expect, test } from "vitest";
import { forTerminal } from "./terminal.ts";

test("an entry below warn stays in the file", () => {
  expect(forTerminal('{"level":"info","msg":"started","pid":1}')).toBeUndefined();
  expect(forTerminal("  ")).toBeUndefined();
});

test("a failure is one short line, without the stack", () => {
  const error = { type: "Error", message: "timeout exceeded", stack: "at somewhere" };
  const line = JSON.stringify({ level: "error", time: "x", service: "fee", attempt: 2, error, msg: "a job failed" });

  expect(forTerminal(line)).toBe('error: a job failed attempt=2 error="timeout exceeded"');
});

test("a line that is no log entry is shown unchanged", () => {
  expect(forTerminal("fee cannot start: FEE_DATABASE_URL is missing")).toBe(
    "fee cannot start: FEE_DATABASE_URL is missing",
  );
  expect(forTerminal("{ not json")).toBe("{ not json");
});
