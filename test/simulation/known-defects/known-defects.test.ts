import { expect, test } from "vitest";
import { showInThread } from "../run-workers.ts";
import { doFit } from "../sabotage/patch-sources.ts";
import { KNOWN_DEFECTS } from "./known-defects.ts";

const PATIENCE_MS = 10 * 60_000;

test.each(KNOWN_DEFECTS)(
  "it shows as long as it is there, and the mend ends it: $title",
  async ({ title, mend }) => {
    const isThere = doFit(mend);

    const asItIs = await showInThread({ shows: title, sabotage: undefined, isMended: false });
    const mended = await showInThread({ shows: title, sabotage: undefined, isMended: true });

    expect(asItIs > 0).toBe(isThere);
    expect(mended).toBe(0);
  },
  PATIENCE_MS,
);
