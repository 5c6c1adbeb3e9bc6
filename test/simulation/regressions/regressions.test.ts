import { expect, test } from "vitest";
import { replayRegressionInThread } from "../run-workers.ts";
import { REGRESSIONS } from "./regressions.ts";

const TIMEOUT_MS = 5 * 60_000;

test.each(REGRESSIONS)(
  "no invariant breaks in the regression, unless its mutant is applied: $title",
  async ({ title, mutant }) => {
    expect(await replayRegressionInThread({ regression: title, mutant: undefined })).toEqual([]);
    if (mutant !== undefined) expect(await replayRegressionInThread({ regression: title, mutant })).not.toEqual([]);
  },
  TIMEOUT_MS,
);
