import { expect, test } from "vitest";
import { liveKeptInThread } from "../run-workers.ts";
import { KEPT_HISTORIES } from "./kept-histories.ts";

const PATIENCE_MS = 5 * 60_000;

test.each(KEPT_HISTORIES)(
  "$title",
  async ({ title, sabotage }) => {
    expect(await liveKeptInThread({ kept: title, sabotage: undefined })).toEqual([]);
    if (sabotage !== undefined) expect(await liveKeptInThread({ kept: title, sabotage })).not.toEqual([]);
  },
  PATIENCE_MS,
);
