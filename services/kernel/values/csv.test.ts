import { expect, test } from "vitest";
import { csvCell } from "./csv.ts";

test.each(["=1+1", "@x", "+1 2", "-text", "-1+1", " =1+1", "\u00a0=1+1", "＝1+1", " ＋1", "－x", "＠x", "\tx", "\t=1"])(
  "a spreadsheet gets %j as text",
  (value) => {
    expect(csvCell(value)).toBe(`'${value}`);
  },
);

test.each(["-1.50", "+2", "-0", "12", "plain", "a=b", " x", ""])("%j stays as it is", (value) => {
  expect(csvCell(value)).toBe(value);
});

test("values are quoted as in RFC 4180", () => {
  expect(["a,b", 'say "x"', "two\r\nlines", "\r=1", '=HYPERLINK("x")'].map(csvCell)).toEqual([
    '"a,b"',
    '"say ""x"""',
    '"two\r\nlines"',
    `"'\r=1"`,
    `"'=HYPERLINK(""x"")"`,
  ]);
});
