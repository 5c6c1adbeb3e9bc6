import { expect, test } from "vitest";
import { operationOfKey } from "../history/statement.ts";

const OPERATION = "0198c0de-0000-7000-8000-000000000001";

test.each([
  ["a deposit", `funding:deposit:${OPERATION}`],
  ["a withdrawal", `withdrawal:${OPERATION}`],
  ["the fee of a withdrawal", `fee:3000003:3000001:WD${OPERATION}`],
  ["the debt that a withdrawal collects", `fee:3000003:3000001:DEBT:withdrawal:${OPERATION}`],
])("the key of %s names its operation", (_what, key) => {
  expect(operationOfKey(key)).toBe(OPERATION);
});

test.each([
  "",
  "fee:3000003:3000001:W:2026-01-03T00:00:00.000Z",
  "fee:1:2:UA7",
  "review:7:reverse",
  "imported:9",
  `x:${OPERATION}`,
])("the key %j names none", (key) => {
  expect(operationOfKey(key)).toBeUndefined();
});
