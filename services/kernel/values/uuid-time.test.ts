import { v7 as uuidv7 } from "uuid";
import { expect, test } from "vitest";
import { firstIdAt, instantOfId } from "./uuid-time.ts";

const AT = new Date("2026-01-02T03:04:05.678Z");
const idAt = (ms: number) => uuidv7({ msecs: ms });

test("an id has the instant of its request", () => {
  expect(instantOfId(idAt(AT.getTime()))).toEqual(AT);
  expect(instantOfId("op-1")).toBeUndefined();
});

test("an instant parts the ids of before from those since", () => {
  const bound = firstIdAt(AT);

  expect(idAt(AT.getTime() - 1) < bound).toBe(true);
  expect(idAt(AT.getTime()) >= bound).toBe(true);
  expect(idAt(AT.getTime() + 1) >= bound).toBe(true);
});

test.each(["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])("also %s parts them", (instant) => {
  const bound = firstIdAt(new Date(instant));

  expect(idAt(AT.getTime()) >= bound).toBe(instant.startsWith("0"));
});
