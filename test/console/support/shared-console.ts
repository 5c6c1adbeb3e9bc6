import { afterAll, beforeAll, describe } from "vitest";
import { type Client, clientOf } from "#test/journey/support/client.ts";
import { sharedSystem, START_TIMEOUT_MS } from "#test/journey/support/shared-system.ts";
import type { RunningSystem } from "#test/journey/support/system.ts";
import { type Browser, startChromium } from "#test/support/chromium.ts";
import { CHROMIUM, type ConsolePage, isSkipped, openConsole } from "./console-page.ts";

/** The system that test files share, and a browser. */
export type SharedConsole = {
  readonly system: RunningSystem;
  readonly client: Client;
  readonly open: () => Promise<ConsolePage>;
};

/** Tests of the console on the shared system; the function that they get may be called when a test runs. */
export function describeSharedConsole(tests: (shared: () => SharedConsole) => void): void {
  describe.skipIf(isSkipped)("in a Chromium, where the machine has one,", { timeout: 180_000 }, () => {
    let system: RunningSystem;
    let browser: Browser;
    beforeAll(async () => {
      system = await sharedSystem();
      browser = await startChromium(CHROMIUM);
    }, START_TIMEOUT_MS);
    afterAll(async () => {
      await browser?.[Symbol.asyncDispose]();
    });
    tests(() => ({ system, client: clientOf(system), open: () => openConsole(browser, system.info().url) }));
  });
}
