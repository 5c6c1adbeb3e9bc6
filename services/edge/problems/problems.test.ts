import { expect, test } from "vitest";
import { PROBLEMS } from "./problems.ts";

test("every documented code has a status, a title and no internal words", () => {
  for (const [code, { status, title }] of Object.entries(PROBLEMS)) {
    expect([code, /^[a-z_]+$/.test(code), status >= 400 && status < 600, title.length > 0]).toEqual([
      code,
      true,
      true,
      true,
    ]);
  }
});
