import process from "node:process";
import { expect, test } from "vitest";
import { IS_PROOF } from "../support/proof.ts";
import { cleanEnvironment, run } from "./support/running.ts";

/** Each takes a minute on an idle machine. */
const TIMEOUT = { timeout: 900_000 };

test.runIf(IS_PROOF).each(["restore", "rotation"])("the rehearsal of %s holds", TIMEOUT, async (name) => {
  const rehearsal = run([process.execPath, `deploy/rehearse/${name}.ts`], cleanEnvironment());

  expect(await rehearsal.ended, rehearsal.output()).toBe(0);
  expect(rehearsal.output()).toContain("Everything holds.");
});
