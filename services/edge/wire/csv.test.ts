import { expect, test } from "vitest";
import { csvText } from "./csv.ts";
import { jsonNumber, scaledNumber, scaledText } from "./number.ts";

test("each row has its end, null is nothing, and a number is written as it is", () => {
  const row = ["a,b", " =1+1", "-0.50", null, 12n, jsonNumber("-0.5")];
  expect(csvText([row, [null]])).toBe(`"a,b",' =1+1,-0.50,,12,-0.5\r\n\r\n`);
});

test.each([
  [145_000_000n, 8, 8, "1.45"],
  [1_234_500_000_000_000_000n, 18, 8, "1.2345"],
  [-1_005n, 3, 2, "-1.01"],
  [-4n, 3, 2, "0"],
  [100n, 2, 2, "1"],
  [0n, 8, 2, "0"],
])("%s with %s decimals is written with %s as %s", (value, scale, decimals, text) => {
  expect(scaledNumber(value, scale, decimals).rawJSON).toBe(text);
});

test("text keeps its decimals", () => {
  expect(scaledText(150n, 2, 2)).toBe("1.50");
});
