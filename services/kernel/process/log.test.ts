import { inspect } from "node:util";
import { expect, test } from "vitest";
import { createLog, type Log, type LogFields } from "./log.ts";
import { Secret } from "../values/secret.ts";

const PLANTED = "planted-secret";

function recorded(level: "info" | "debug" = "info"): { log: Log; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const to = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  return { log: createLog({ service: "test", level, to }), lines };
}

test("a line is JSON with level, time, service, message and the fields", () => {
  const { log, lines } = recorded();

  log.child({ request_id: "r1" }).info("something happened", { number: 9_007_199_254_740_993n, duration_ms: 1.5 });

  expect(lines).toEqual([
    {
      level: "info",
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      service: "test",
      request_id: "r1",
      number: "9007199254740993",
      duration_ms: 1.5,
      msg: "something happened",
    },
  ]);
});

test("the level decides what is written", () => {
  const { log, lines } = recorded("info");

  log.debug("not this");
  log.warn("this");

  expect(lines.map(({ msg }) => msg)).toEqual(["this"]);
});

test("fields that are not on the allow-list are never written, whatever their names and at any depth", () => {
  const { log, lines } = recorded();
  const fields = {
    password: PLANTED,
    body: { master_password: PLANTED },
    query: `?comment=${PLANTED}`,
    headers: { authorization: PLANTED },
    // An object under an allowed name is dropped as well.
    key: { password: PLANTED },
    reason: new Secret(PLANTED),
    __proto__: { url: PLANTED },
    error: Object.assign(new Error("failed", { cause: { password: PLANTED } }), {
      detail: PLANTED,
      request: { PLANTED },
    }),
  } as unknown as LogFields;

  log.info("a line", fields);
  log.child(fields).error("a line of a child", { error: PLANTED });

  expect(lines).toHaveLength(2);
  expect(inspect(lines, { depth: Infinity })).not.toContain(PLANTED);
});

test("an error is written as type, message, code and stack, its causes too", () => {
  const { log, lines } = recorded();
  const cause = Object.assign(new TypeError("inner"), { code: "ECONNREFUSED" });

  log.error("it failed", { error: new Error("outer", { cause }) });

  expect(lines[0]?.["error"]).toEqual({
    type: "Error",
    message: "outer",
    stack: expect.stringContaining("log.test.ts"),
    cause: { type: "TypeError", message: "inner", code: "ECONNREFUSED", stack: expect.any(String) },
  });
});

test("an error that stands for several has the first of them as its cause", () => {
  const { log, lines } = recorded();

  log.error("it failed", { error: new AggregateError([new Error("why"), new Error("also")], "several") });

  expect(lines[0]?.["error"]).toMatchObject({ type: "AggregateError", message: "several", cause: { message: "why" } });
});
