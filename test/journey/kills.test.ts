import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, test } from "vitest";
import { formatDecimal, usd } from "#kernel/money.ts";
import { sized } from "../support/proof.ts";
import { platformFaults } from "./routes/platform-faults.ts";
import { type Client, clientOf } from "./support/client.ts";
import { CROWD, newCrowd } from "./support/crowd.ts";
import { type Kill, tellThroughRestart, tellWhileKilling } from "./support/kill-at-steps.ts";
import { splitResults } from "./support/split.ts";
import { type ProcessName, startTestSystem, type TestSystem } from "./support/system.ts";
import { bookResult, expectBalances } from "./support/trading.ts";

/** One system on which processes are killed and the platform fails. */
const TIMEOUT = { timeout: 600_000 + CROWD * 1_500 };
const START_TIMEOUT_MS = 180_000;

let system: TestSystem;
let client: Client;

beforeAll(async () => {
  system = await startTestSystem();
  client = clientOf(system);
}, START_TIMEOUT_MS);
afterAll(() => system[Symbol.asyncDispose](), START_TIMEOUT_MS);

describe("a platform that fails", () => {
  platformFaults(() => client);
});

/** Every process once, at the step that needs it, or the one before. */
const KILLS: readonly Kill[] = [
  ["platform", "Deposit initial capital"],
  ["fee", "Assign both"],
  ["simulator", "Watch their capital appear"],
  ["edge", "Deposit again"],
  ["funding", "Withdraw: "],
  ["subscription", "Unassign: "],
  ["nats", "Watch PAUSED become"],
  ["postgres", "Deposit initial capital"],
  // Last, because a creation may take 30 s to be given up, and the demos that start together are all creating.
  ["account", "Create the Master"],
];

test("every balance ties though everything is killed at once and started again", TIMEOUT, async () => {
  await tellThroughRestart(system, "lifecycle", "Deposit again");
});

/** Several CRMs at once, each of which also meets what the others' killers do. */
test.concurrent.each(KILLS)("every balance ties though %s is killed at: %s", TIMEOUT, async (...kill) => {
  await tellWhileKilling(system, "lifecycle", [kill]);
});

/** A deal is read within a second, then split, then posted: these delays reach each of the three. */
const DELAYS_MS = sized({ test: [700], proof: [300, 700, 1_100] });
const SPLITTING: readonly ProcessName[] = ["subscription", "platform", "postgres", "simulator", "nats", "fee"];
/** A kill in the middle of a send leaves an operation that is decided within the quiet period. */
const SETTLED_MS = 180_000 + CROWD * 200;

test(`a deal of ${CROWD} Investors is split and posted once, whoever is killed meanwhile`, TIMEOUT, async () => {
  const crowd = await newCrowd(client, 0.3);
  const results: bigint[] = [];
  const book = async (result: bigint): Promise<void> => {
    results.push(result);
    await bookResult(client, crowd.login, formatDecimal(usd(result)));
  };

  for (const [round, delay] of DELAYS_MS.entries()) {
    for (const [index, name] of SPLITTING.entries()) {
      await book(BigInt(round % 2 === 0 ? 1 : -1) * (987_65n + BigInt(index * 111)));
      await sleep(delay);
      await system.kill(name);
    }
  }

  const gained = splitResults(
    results,
    crowd.members.map(({ capital }) => capital),
  );
  const balances = crowd.members.map(({ capital }, holding) => capital + (gained[holding] ?? 0n));
  const logins = crowd.members.map(({ login }, holding) => [login, formatDecimal(usd(balances[holding] ?? 0n))]);
  const master = balances.reduce((sum, balance) => sum + balance, 0n);
  await expectBalances(
    client,
    { ...Object.fromEntries(logins), [crowd.login]: formatDecimal(usd(master)) },
    SETTLED_MS,
  );
});
