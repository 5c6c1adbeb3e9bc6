import { expect, test } from "vitest";
import { forTerminal } from "./terminal.ts";

test("an entry below warn is written to the log file only", () => {
  expect(forTerminal('{"level":"info","msg":"started","pid":1}')).toBeUndefined();
  expect(forTerminal("  ")).toBeUndefined();
});

test("an error is shown in one line, without the stack", () => {
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
