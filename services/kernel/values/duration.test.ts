import { expect, test } from "vitest";
import { parseDuration } from "./duration.ts";

test.each([
  ["PT5S", 5_000],
  ["PT0.25S", 250],
  ["PT20M", 1_200_000],
  ["PT1H30M", 5_400_000],
  ["P7D", 604_800_000],
  ["P1W", 604_800_000],
  ["P1DT12H", 129_600_000],
])("%s is %d ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(["", "P", "P1DT", "5s", "pt5s", "P1Y", "P1M", "PT-5S", "PT0S", " PT5S", "PT1.2345S", "PT5S\n"])(
  "%j is not a duration",
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);
