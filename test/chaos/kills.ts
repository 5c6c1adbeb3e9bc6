import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { formatMinor } from "#kernel/money.ts";
import { IS_PROOF, sized } from "../support/proof.ts";
import { eventually } from "../journey/support/client.ts";
import { CROWD, newCrowd } from "../journey/support/crowd.ts";
import { type Kill, runDemoWhileKilling } from "./kill-during-demo.ts";
import { allocateResults } from "../journey/support/allocate-results.ts";
import type { ProcessName } from "../journey/support/system.ts";
import { bookResult, expectBalances } from "../journey/support/trading.ts";
import type { SystemUnderTest } from "./system-under-test.ts";

/**
 * Kills each process once, and all of them at once, when the demo prints the step that needs the process or the step before; in the order
 * of the steps. In `make test` only those that no test below kills.
 */
const KILLS = sized<readonly (readonly Kill[])[]>({
  test: [
    [
      ["account", "Create the Master"],
      ["edge", "Deposit again"],
      ["everything", "Deposit again"],
      ["funding", "Withdraw: "],
    ],
  ],
  proof: [
    [
      ["account", "Create the Master"],
      ["platform", "Deposit initial capital"],
      ["fee", "Assign both"],
      ["edge", "Deposit again"],
      ["subscription", "Unassign: "],
    ],
    [
      ["postgres", "Deposit initial capital"],
      ["simulator", "Watch their capital appear"],
      ["funding", "Withdraw: "],
      ["nats", "Watch PAUSED become"],
    ],
  ],
});

/** A deal is read within a second, then allocated, then posted: the delays reach each of these steps. */
const DELAYS_MS = sized({ test: [700], proof: [300, 700, 1_100] });
const PROCESSES_OF_ALLOCATION: readonly ProcessName[] = [
  "subscription",
  "platform",
  "postgres",
  "simulator",
  "nats",
  "fee",
];
/** A kill during a send leaves a leg whose outcome is known within the quiet period. */
const SETTLED_MS = 180_000 + CROWD * 200;

/** Every balance matches after processes are killed while money moves. */
export function killedProcesses(tested: () => SystemUnderTest): void {
  test.runIf(IS_PROOF)("every balance matches after all processes are killed at once and restarted", async () => {
    await runDemoWhileKilling(tested().system, "lifecycle", [["everything", "Deposit again"]]);
  });

  /** In `make proof` several demos run at once, so each one is also affected by the kills of the others. */
  test.concurrent.for(KILLS.map((kills) => ({ kills, names: kills.map(([name]) => name).join(", ") })))(
    "every balance matches after processes are killed during a demo: $names",
    ({ kills }) => runDemoWhileKilling(tested().system, "lifecycle", kills),
  );

  test(`a deal of ${CROWD} Investors is allocated and posted once while processes are killed`, async () => {
    const { client, system } = tested();
    // The processes that were killed last may still be opening their connections.
    await eventually(async () => expect((await client.get("/readyz")).body).toMatchObject({ status: "ready" }));
    const crowd = await newCrowd(client, 0.3);
    const results: bigint[] = [];
    const book = async (result: bigint): Promise<void> => {
      results.push(result);
      await bookResult(client, crowd.login, formatMinor(result));
    };

    for (const [round, delay] of DELAYS_MS.entries()) {
      for (const [index, name] of PROCESSES_OF_ALLOCATION.entries()) {
        await book(BigInt(round % 2 === 0 ? 1 : -1) * (987_65n + BigInt(index * 111)));
        await sleep(delay);
        await system.kill(name);
      }
    }

    const gained = allocateResults(
      results,
      crowd.members.map(({ capital }) => capital),
    );
    const balances = crowd.members.map(({ capital }, index) => capital + (gained[index] ?? 0n));
    const logins = crowd.members.map(({ login }, index) => [login, formatMinor(balances[index] ?? 0n)]);
    const master = balances.reduce((sum, balance) => sum + balance, 0n);
    await expectBalances(client, { ...Object.fromEntries(logins), [crowd.login]: formatMinor(master) }, SETTLED_MS);
  });
}
