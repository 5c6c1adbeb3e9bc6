import { expect, test } from "vitest";
import { fittingPage } from "./page.ts";

test("a page is cut before what clients have written exceeds a message, but has one row at least", () => {
  const rows = Array.from({ length: 5 }, (_, index) => ({ index, text: "€".repeat(70_000) }));
  const text = (row: { readonly text: string }) => row.text;

  expect(fittingPage(rows, 2, text)).toEqual({ items: rows.slice(0, 2), hasMore: true });
  expect(fittingPage(rows, 5, text)).toEqual({ items: rows.slice(0, 2), hasMore: true });
  expect(fittingPage(rows, 5, () => undefined)).toEqual({ items: rows, hasMore: false });
  const huge = { index: 0, text: "x".repeat(600_000) };
  expect(fittingPage([huge], 5, text)).toEqual({ items: [huge], hasMore: false });
});
