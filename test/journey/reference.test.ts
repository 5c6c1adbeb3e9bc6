import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Step } from "../reference/history.ts";
import * as examples from "../reference/live/examples.ts";
import * as floating from "../reference/live/floating-examples.ts";
import { type InnerBooks, openInnerBooks } from "../reference/live/inner-books.ts";
import type { Live } from "../reference/live/live.ts";
import { playLive, someHistory } from "../reference/live/random.ts";
import { runExample } from "../reference/live/stage.ts";
import * as steps from "../reference/live/steps.ts";
import { type Client, clientOf } from "./support/client.ts";
import { expectFeesToReconcile } from "./support/fees.ts";
import { startTestSystem, type TestSystem } from "./support/system.ts";
import { proofOfMasters } from "./support/master-proof.ts";
import { bookResult, expectBalances, pooled } from "./support/trading.ts";
import { untilNextWeek } from "./support/weeks.ts";

/** Fee weeks of seconds on one system: worked examples of the accounting, random histories, and the proof of a Master. */
const START_TIMEOUT_MS = 180_000;
// Not an options object of the tests: vitest marks the one that a concurrent test is given, and so each test that shares it.
vi.setConfig({ testTimeout: 600_000 });
const WEEK_MS = 10_000;

let system: TestSystem;
let client: Client;
let books: InnerBooks;

beforeAll(async () => {
  system = await startTestSystem({ PAMM_FEE_PERIOD: `PT${WEEK_MS / 1_000}S`, PAMM_CHECK_INTERVAL: "PT2S" });
  client = clientOf(system);
  books = await openInnerBooks(system);
}, START_TIMEOUT_MS);
afterAll(async () => {
  await books[Symbol.asyncDispose]();
  await system[Symbol.asyncDispose]();
}, START_TIMEOUT_MS);

const FLAT = ["deposit", "withdraw", "assign", "unassign", "result", "rate", "switch", "week"] as const;

test.concurrent.for([
  ["A4: three equal Investors", examples.threeEqualInvestors],
  ["F1, F2, F13: weeks of one Investor each", examples.weeksOfOneInvestorEach],
  ["F4, F4b, F14: leaving with a profit", examples.leavingWithProfit],
  ["F6: a rate that changes inside the week", examples.rateInsideTheWeek],
  ["a debt is paid first, to the Master that is its creditor", examples.debtToAnOldMaster],
  ["a gap beyond the pool", examples.gapBeyondThePool],
  ["an Investor that returns continues with its earlier mark", examples.comingBack],
  ["a random history without open positions", random(FLAT, 1)],
] as const)("%s", ([, saga]) => runExample(system, books, saga));

/** One after the other, because the simulator has one price. */
test.concurrent("A1, A2, A8, F10 and a random history: while positions float", async () => {
  await runExample(system, books, floating.depositWhileFloating);
  await runExample(system, books, floating.coveredNegative);
  await runExample(system, books, floating.openLossAtTheCutOff);
  await runExample(system, books, random([...FLAT, "open", "mark", "close"], 1002));
});

describe("the proof of a Master", () => {
  proofOfMasters(
    () => system,
    () => client,
  );
});

/** The last test, because it kills all processes of the system. */
test("a week that ends while the system is stopped is closed as of its own end (F12)", async () => {
  const master = await pooled(client, ["10000"], 0.25);
  const [investor = ""] = master.investors;
  const cutOff = await untilNextWeek(system);
  await bookResult(client, master.login, "800");
  await system.restart("SIGKILL");
  client = clientOf(system);
  await sleep(Math.max(0, cutOff - Date.now()));
  await bookResult(client, master.login, "-500");

  await expectBalances(client, { [investor]: "10100", [master.login]: "10100", [master.paymentLogin]: "200" });
  const { payments } = await expectFeesToReconcile(client, master);
  expect(payments).toMatchObject([
    { minor: 200_00n, key: expect.stringMatching(`^PF:${investor}:${master.login}:\\d+:W$`) },
  ]);
  expect(payments.map(({ periodEnd }) => Date.parse(`${periodEnd}Z`))).toEqual([cutOff]);
});

function random(kinds: readonly Step["kind"][], seed: number): (live: Live) => Promise<void> {
  const history = someHistory({ investors: 4, masters: 2, steps: 30, kinds }, seed);
  return async (live) => {
    if (kinds.includes("mark")) await steps.price(live, "1.10000");
    await playLive(live, history);
  };
}
