import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { BY_STATUS, CODES } from "./problems.ts";

test("every code has one entry, and its name is in small letters", () => {
  expect(Object.values(BY_STATUS).flatMap((entries) => Object.keys(entries))).toEqual(CODES);
  expect(CODES.filter((code) => !/^[a-z_]+$/.test(code))).toEqual([]);
});

test("the table of the guide says what to do about every status, and about no other", () => {
  const guide = readFileSync(new URL("../../../docs/integrate/errors.md", import.meta.url), "utf8");
  const statuses = [...guide.matchAll(/^\| (\d{3}(?:, \d{3})*) \|/gm)].flatMap(([, cell = ""]) => cell.split(", "));

  expect(statuses.toSorted()).toEqual(Object.keys(BY_STATUS));
});
