import { expect, test } from "vitest";
import { liveKeptInThread } from "../run-workers.ts";
import { KEPT_HISTORIES } from "./kept-histories.ts";

const TIMEOUT_MS = 5 * 60_000;

test.each(KEPT_HISTORIES)(
  "$title",
  async ({ title, mutant }) => {
    expect(await liveKeptInThread({ kept: title, mutant: undefined })).toEqual([]);
    if (mutant !== undefined) expect(await liveKeptInThread({ kept: title, mutant })).not.toEqual([]);
  },
  TIMEOUT_MS,
);
