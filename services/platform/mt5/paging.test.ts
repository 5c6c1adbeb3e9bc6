import { expect, test } from "vitest";
import { PAGE_ROWS, readWhole } from "./paging.ts";

/** A list on the platform that may change between two calls. */
function aList(rows: bigint[], afterCall: (call: number, rows: bigint[]) => void = () => {}) {
  let calls = 0;
  const answer = <Value>(value: Value): Promise<Value> => {
    afterCall((calls += 1), rows);
    return Promise.resolve(value);
  };
  return {
    what: "rows",
    total: () => answer(rows.length),
    page: (offset: number) => answer(rows.slice(offset, offset + PAGE_ROWS)),
    idOf: (row: bigint) => row,
  };
}
const numbers = (count: number) => Array.from({ length: count }, (_, index) => BigInt(index));

test("lists of any length are read completely", async () => {
  for (const count of [0, 1, 99, 100, 101, 250, 1_000]) {
    expect(await readWhole(aList(numbers(count)))).toEqual(numbers(count));
  }
});

test("a row added during the read causes a second read", async () => {
  const list = aList(numbers(150), (call, rows) => call === 2 && rows.push(150n));
  expect(await readWhole(list)).toEqual(numbers(151));
});

test("a list that keeps changing, or has fewer rows than its total, is an error and never a shorter list", async () => {
  const changing = aList(numbers(150), (_, rows) => rows.push(BigInt(rows.length)));
  await expect(readWhole(changing)).rejects.toMatchObject({ problem: "incomplete" });
  const short = { ...aList(numbers(5)), total: () => Promise.resolve(6) };
  await expect(readWhole(short)).rejects.toMatchObject({ problem: "incomplete" });
  const hidden = { ...aList([]), total: () => Promise.resolve(1) };
  await expect(readWhole(hidden)).rejects.toMatchObject({ problem: "incomplete" });
});
