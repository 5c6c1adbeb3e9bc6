import { expect, test } from "vitest";
import { parseAdoptionRule } from "./quarantine.ts";

test.each([
  ["4", { action: 4, comment: "" }, true],
  ["4", { action: 5, comment: "4" }, false],
  ["5, Dormant fee", { action: 4, comment: "Dormant fee of January" }, true],
  ["5, Dormant fee", { action: 4, comment: "dormant fee" }, false],
])("the rule %j and the deal %j: %s", (text, deal, isAdopted) => {
  expect(parseAdoptionRule(text)?.(deal)).toBe(isAdopted);
});

test.each(["", " ", "4,", "0", "1", "3", "6", "13", "4,99"])("%j is no rule", (text) => {
  expect(parseAdoptionRule(text)).toBeUndefined();
});
