import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runKit } from "../conformance/run-kit.ts";
import { SPECIFICATION } from "../conformance/specification.ts";
import type { Step } from "../reference/history.ts";
import * as examples from "../reference/live/examples.ts";
import * as floating from "../reference/live/floating-examples.ts";
import { type InternalState, openInternalState } from "../reference/live/internal-state.ts";
import type { Live } from "../reference/live/live.ts";
import { runLiveHistory, someHistory } from "../reference/live/run-live-history.ts";
import { runExample } from "../reference/live/run-example.ts";
import * as steps from "../reference/live/steps.ts";
import { type Client, clientOf } from "./support/client.ts";
import { expectFeesToReconcile } from "./support/fees.ts";
import { IS_PROOF, sized } from "../support/proof.ts";
import { startTestSystem, type TestSystem } from "./support/system.ts";
import { proofOfMasters } from "./support/master-proof.ts";
import { bookResult, expectBalances, pooled } from "./support/trading.ts";
import { untilNextWeek } from "./support/weeks.ts";

/** Fee weeks of seconds on one system: worked examples of the accounting, random histories, and the proof of a Master. */
const START_TIMEOUT_MS = 180_000;
// Set here, because vitest marks the options object of a concurrent test as concurrent, and so every test that shares the object.
vi.setConfig({ testTimeout: 600_000 });
const WEEK_MS = 10_000;

let system: TestSystem;
let client: Client;
let internal: InternalState;

beforeAll(async () => {
  system = await startTestSystem({
    PAMM_FEE_PERIOD: `PT${WEEK_MS / 1_000}S`,
    PAMM_CHECK_INTERVAL: "PT5S",
    PAMM_MAX_TICK_AGE: "PT1S",
    // The reference knows at once what floats; the service decides about a deficit by its last valuation.
    PAMM_VALUATION_INTERVAL: "PT1S",
    PAMM_ADOPT_CHARGES: "4",
  });
  client = clientOf(system);
  internal = await openInternalState(system);
}, START_TIMEOUT_MS);
afterAll(async () => {
  await internal[Symbol.asyncDispose]();
  await system[Symbol.asyncDispose]();
}, START_TIMEOUT_MS);

const FLAT = ["deposit", "withdraw", "assign", "unassign", "result", "rate", "switch", "week"] as const;

/** One after the other, because the simulator has one price; they take longest, so they begin first. */
test.concurrent("deposits, fees and a random history with open positions equal the reference", async () => {
  await runExample(system, internal, floating.depositWhileFloating);
  await runExample(system, internal, floating.negativeCashCoveredByFloating);
  await runExample(system, internal, floating.openLossAtTheCutOff);
  for (const seed of sized({ test: [1003], proof: [1002, 1003] })) {
    await runExample(system, internal, random([...FLAT, "dealer", "open", "mark", "close", "queued"], seed));
  }
});

test.concurrent.for([
  ["the results of three equal Investors are allocated to the cent", examples.threeEqualInvestors],
  ["each week charges only profit above the high-water mark", examples.weeksOfOneInvestorEach],
  ["a withdrawal or an unassign in profit takes the fee first", examples.leavingWithProfit],
  ["a rate that changes inside the week applies to later results", examples.rateInsideTheWeek],
  ["a debt is paid first, to the Master that is its creditor", examples.debtToAnOldMaster],
  ["a stop-out is compensated whole, and no Investor that deposits meanwhile pays for it", examples.stopOutCompensated],
  ["what a dealer pays for a wrong price goes to those that had the loss", examples.repairedResult],
  ["agents earn for the Master, and a charge lowers one share", examples.agentsAndCharges],
  ["a loss larger than the pool is owed by each Investor in proportion", examples.lossBeyondThePool],
  ["an Investor that returns continues with its earlier high-water mark", examples.returningInvestor],
  ["a random history of fee versions equals the reference", random([...FLAT, "version", "cancel"], 11)],
  ...sized({ test: [5_233], proof: [280, 736, 763, 4_256, 5_233] }).map((seed) => {
    return [`a random history of what brokers do equals the reference: ${seed}`, ofBrokers(seed)] as const;
  }),
] as const)("%s", ([, example]) => runExample(system, internal, example));

test.concurrent("the fee of a week is what the specification says", async () => {
  const { url, apiKey, simulatorControlUrl } = system.info();
  const settings = { url, key: apiKey, simulator: simulatorControlUrl, weekSeconds: WEEK_MS / 1_000 };
  const weekly = SPECIFICATION.map((section) => section.filter(({ id }) => id === "4.5 weekly"));
  const rows = await runKit(settings, weekly);
  expect(rows.map(({ result, observed }) => `${result}: ${observed}`)).toEqual([expect.stringMatching(/^works: /)]);
});

proofOfMasters(
  () => system,
  () => client,
);

/** Kinds of steps that the two other random histories have too: `make proof` runs these. */
describe.runIf(IS_PROOF)("more random histories", () => {
  test.concurrent.for([
    ["a random history without open positions equals the reference", random(FLAT, 1)],
    [
      "a random history with money of dealers on the Masters equals the reference",
      random([...FLAT, "dealer", "agent", "levy"], 7),
    ],
  ] as const)("%s", ([, example]) => runExample(system, internal, example));
});

/** The last test, because it kills all processes of the system. */
test("a week that ends while the system is stopped is decided as of its own end", async () => {
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

/** Holes and compensations, corrections and repairs, agents, charges, and accounts that the broker archives and restores. */
function ofBrokers(seed: number): (live: Live) => Promise<void> {
  const flat = ["deposit", "withdraw", "assign", "unassign", "result"] as const;
  const kinds = [...flat, "dealer", "repair", "agent", "levy", "protect", "archive", "restore"] as const;
  const sequences = [...repeated("archived", 3), ...repeated("repaired", 6), ...repeated("stoppedOut", 6)];
  const history = someHistory({ investors: 3, masters: 1, steps: 13, kinds, sequences }, seed);
  return async (live) => {
    await runLiveHistory(live, history);
    for (const step of OF_BROKERS) expect(live.transcript.join("\n")).toMatch(step);
  };
}

function repeated<const T>(value: T, times: number): T[] {
  return Array.from({ length: times }, () => value);
}

/** What has happened in each history of brokers. */
const OF_BROKERS = [
  /is archived/,
  /a compensation of \S+ is paid to a balance below zero/,
  /a result of \S+, by its deal\n(?! {3}not)/,
];

function random(kinds: readonly Step["kind"][], seed: number): (live: Live) => Promise<void> {
  const history = someHistory({ investors: 4, masters: 2, steps: 30, kinds }, seed);
  return async (live) => {
    if (kinds.includes("mark")) await steps.price(live, "1.10000");
    await runLiveHistory(live, history);
  };
}
