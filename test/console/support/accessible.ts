import { expect } from "vitest";
import { IS_PROOF } from "../../support/proof.ts";
import type { ConsolePage, Scheme } from "./console-page.ts";

type View = readonly [width: number, scheme: Scheme];

const WIDTHS = [390, 768, 1280];
const EVERY_VIEW: readonly View[] = WIDTHS.flatMap((width): View[] => [
  [width, "light"],
  [width, "dark"],
]);
/** Rules depend on the width, and on the colours: these views have both of each, and in `make test` one page after the other has one. */
const JUDGED: readonly View[] = [
  [390, "dark"],
  [1280, "light"],
];
let judged = 0;

function nextViews(): readonly View[] {
  judged += 1;
  return IS_PROOF ? EVERY_VIEW : JUDGED.filter((_, index) => index === judged % JUDGED.length);
}

/** The page in the tab violates no rule of accessibility, and is as wide as the window at every width. */
export async function expectAccessible(tab: ConsolePage, name: string): Promise<void> {
  for (const width of WIDTHS) {
    await tab.page.emulate({ width, height: 900, scheme: "light" });
    expect([name, width, await tab.overflow()]).toEqual([name, width, 0]);
  }
  for (const [width, scheme] of nextViews()) {
    await tab.page.emulate({ width, height: 900, scheme });
    expect([name, width, scheme, await tab.violations()]).toEqual([name, width, scheme, []]);
  }
}
