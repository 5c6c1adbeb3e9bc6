import { afterAll, beforeAll, test } from "vitest";
import * as examples from "../reference/live/examples.ts";
import * as floating from "../reference/live/floating-examples.ts";
import { type InnerBooks, openInnerBooks } from "../reference/live/inner-books.ts";
import type { Live } from "../reference/live/live.ts";
import { playLive, someHistory } from "../reference/live/random.ts";
import { tell } from "../reference/live/stage.ts";
import * as steps from "../reference/live/steps.ts";
import type { Step } from "../reference/history.ts";
import { startTestSystem, type TestSystem } from "./support/system.ts";

/** The worked examples of the accounting and some random histories, on everything that `make run` starts. */
const START_PATIENCE_MS = 180_000;
const PATIENCE = { timeout: 600_000 };
const WEEK_MS = 10_000;

const stack = new AsyncDisposableStack();
let system: TestSystem;
let books: InnerBooks;

beforeAll(async () => {
  system = stack.use(await startTestSystem({ PAMM_FEE_PERIOD: `PT${WEEK_MS / 1_000}S` }));
  books = stack.use(await openInnerBooks(system));
}, START_PATIENCE_MS);
afterAll(() => stack.disposeAsync(), START_PATIENCE_MS);

const FLAT = ["deposit", "withdraw", "assign", "unassign", "result", "rate", "switch", "week"] as const;

test.concurrent.for([
  ["A4: three equal Investors", examples.threeEqualInvestors],
  ["F1, F2, F13: weeks of one Investor each", examples.weeksOfOneInvestorEach],
  ["F4, F4b, F14: leaving with a profit", examples.leavingWithProfit],
  ["F6: a rate that changes inside the week", examples.rateInsideTheWeek],
  ["a debt is paid first, and to whom it is owed", examples.debtToAnOldMaster],
  ["a gap beyond the pool", examples.gapBeyondThePool],
  ["who comes back goes on where it was", examples.comingBack],
  ["a random history without open positions", random(FLAT, 1)],
] as const)("%s", PATIENCE, ([, story]) => tell(system, books, story));

/** There is one price for all: these come one after the other. */
test.concurrent("A1, A2, A8, F10 and a random history: while positions float", PATIENCE, async () => {
  await tell(system, books, floating.depositWhileFloating);
  await tell(system, books, floating.coveredNegative);
  await tell(system, books, floating.openLossAtTheCutOff);
  await tell(system, books, random([...FLAT, "open", "mark", "close"], 1002));
});

function random(kinds: readonly Step["do"][], seed: number): (live: Live) => Promise<void> {
  const history = someHistory({ investors: 4, masters: 2, steps: 30, kinds }, seed);
  return async (live) => {
    if (kinds.includes("mark")) await steps.price(live, "1.10000");
    await playLive(live, history);
  };
}
