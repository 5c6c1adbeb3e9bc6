import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SECONDS } from "./longest-first.ts";

test("the test files that begin first exist", () => {
  expect(Object.keys(SECONDS).filter((file) => !existsSync(join(import.meta.dirname, "../..", file)))).toEqual([]);
});
