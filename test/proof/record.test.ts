import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PARTS } from "./parts.ts";
import { isDue, readRows, type Row, writeRows } from "./record.ts";

const DOCUMENT = new URL("../../docs/reliability.md", import.meta.url);
const EMPTY = writeRows("Before.\n<!-- proof: written by `make proof` -->\n<!-- end of proof -->\nAfter.\n", []);
const ROW: Row = {
  part: "simulation",
  passed: 45,
  failed: 0,
  figures: { histories: 10_000, "crashes of a process": 5_123 },
  seconds: 1_412,
  date: "2026-01-31",
  commit: "0123abc-dirty",
  machine: "2 x Some CPU @ 2.0GHz, 24 GiB, Node 24.1.0",
};

test("the documentation has at most one row for each part of make proof, and no other rows", () => {
  const rows = readRows(readFileSync(DOCUMENT, "utf8"));
  const names = rows.map(({ part }) => part);
  expect(names).toEqual(PARTS.map(({ name }) => name).filter((name) => names.includes(name)));
  for (const { date, passed, failed, seconds } of rows) {
    expect(new Date(date).toISOString()).toContain(date);
    expect(passed + failed).toBeGreaterThan(0);
    expect(seconds).toBeGreaterThan(0);
  }
});

test("rows are read as they were written, and the text around the table stays", () => {
  const bare: Row = { ...ROW, part: "mutants", figures: {} };
  const document = writeRows(EMPTY, [ROW, bare]);
  expect(readRows(document)).toEqual([ROW, bare]);
  expect(document.startsWith("Before.\n")).toBe(true);
  expect(document.endsWith("\nAfter.\n")).toBe(true);
  expect(writeRows(document, [])).toBe(EMPTY);
});

test.each([
  ["of a hundred commits and a week ago is not", { commits: 100, date: "2026-02-07" }, false],
  ["of a hundred and one commits ago is", { commits: 101, date: "2026-01-31" }, true],
  ["of eight days ago is", { commits: 0, date: "2026-02-08" }, true],
  ["of a commit that is not in the history is", { commits: undefined, date: "2026-01-31" }, true],
] as const)("the part of a row %s due", (_case, { commits, date }, expected) => {
  expect(isDue(ROW, { date, commitsSince: (commit) => (commit === "0123abc" ? commits : undefined) })).toBe(expected);
});

test("a row in another format than that of make proof is refused", () => {
  const document = writeRows(EMPTY, [ROW]);
  expect(() => readRows(document.replace("10,000", "10000"))).toThrow("not a row of the proof");
  expect(() => readRows(document.replace("2026-01-31", "yesterday"))).toThrow("not a row of the proof");
  expect(() => readRows("no table")).toThrow("markers");
});
