// @vitest-environment happy-dom
import { render } from "preact";
import { afterEach, expect, test } from "vitest";
import { Evidence } from "./evidence.tsx";

afterEach(() => render(null, document.body));

test("cents of evidence become an amount, and other text stays as it is", () => {
  render(<Evidence evidence={{ due_minor: "-5000", paid_minor: 5n, odd_minor: "1e3" }} />, document.body);
  const shown = [...document.querySelectorAll("dd")].map(({ textContent }) => textContent);
  expect(shown).toEqual(["−50.00", "0.05", "1e3"]);
});
