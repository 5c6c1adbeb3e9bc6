import { expect } from "vitest";
import { sized } from "../../support/proof.ts";
import type { ConsolePage, Scheme } from "./console-page.ts";

type View = readonly [width: number, scheme: Scheme];

const WIDTHS = [390, 768, 1280];
const EVERY_VIEW: readonly View[] = WIDTHS.flatMap((width): View[] => [
  [width, "light"],
  [width, "dark"],
]);
/** Rules depend on the width, and on the colours: two views have both of each. */
const JUDGED = sized<readonly View[]>({
  test: [
    [390, "dark"],
    [1280, "light"],
  ],
  proof: EVERY_VIEW,
});

/** The page in the tab violates no rule of accessibility, and is as wide as the window at every width. */
export async function expectAccessible(tab: ConsolePage, name: string): Promise<void> {
  for (const width of WIDTHS) {
    await tab.page.emulate({ width, height: 900, scheme: "light" });
    expect([name, width, await tab.overflow()]).toEqual([name, width, 0]);
  }
  for (const [width, scheme] of JUDGED) {
    await tab.page.emulate({ width, height: 900, scheme });
    expect([name, width, scheme, await tab.violations()]).toEqual([name, width, scheme, []]);
  }
}
