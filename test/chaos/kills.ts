import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { formatMinor } from "#kernel/values/money.ts";
import { IS_PROOF, sized } from "../support/proof.ts";
import { dealsOf, eventually, untilKnown } from "../journey/support/client.ts";
import { CROWD, newCrowd } from "../journey/support/crowd.ts";
import { type Kill, runDemoWhileKilling } from "./kill-during-demo.ts";
import { allocateResults } from "../journey/support/allocate-results.ts";
import type { ProcessName } from "../journey/support/system.ts";
import { assign, expectDone, newInvestor } from "../journey/support/client-requests.ts";
import { closeMaster, patchMaster, statusOf, subscriptionsOf } from "../journey/support/master-life.ts";
import { expectProblem } from "../journey/support/problem.ts";
import { bookResult, expectBalances, pooled } from "../journey/support/trading.ts";
import type { SystemUnderTest } from "./system-under-test.ts";

/**
 * Kills each process once when the demo prints the step that needs the process or the step before; in the order of the steps. In `make test`
 * only those that no other test kills: the edges die with webhooks, and all processes at once before and after a restore.
 */
const KILLS = sized<readonly (readonly Kill[])[]>({
  test: [
    [
      ["account", "Create the Master"],
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

  test("a Master is closed while processes are killed: each Investor leaves once, with its share less its fee", async () => {
    const { client, system } = tested();
    await eventually(async () => expect((await client.get("/readyz")).body).toMatchObject({ status: "ready" }));
    const pool = await pooled(client, ["1000", "2000", "3000"]);
    await bookResult(client, pool.login, "600");
    const logins = [...pool.investors, pool.login] as const;
    await expectBalances(client, balancesOf(logins, ["1100", "2200", "3300", "6600"]));

    const closing = await expectDone(closeMaster(untilKnown(client), pool.id));
    for (const name of ["subscription", "fee", "subscription"] as const) await system.kill(name);
    await eventually(
      async () => expect(await statusOf(client, pool.id)).toMatchObject({ state: "archived" }),
      SETTLED_MS,
    );

    await expectBalances(client, balancesOf([...logins, pool.paymentLogin], ["1070", "2140", "3210", "0", "180"]));
    expect(await subscriptionsOf(client, pool.login)).toEqual(["CANCELLED", "CANCELLED", "CANCELLED"]);
    // Deposit, result, fee; and on the Master three mirrors, the result, and a transfer for each fee and exit, some of them together.
    for (const login of pool.investors) expect(await dealsOf(client, login)).toHaveLength(3);
    const moved = await dealsOf(client, pool.login);
    expect(moved.reduce((sum, { minor }) => sum + minor, 0n)).toBe(0n);
    const again = await expectDone(closeMaster(client, pool.id));
    expect(again.body).toEqual({ ...closing.body, investors_count: "0" });
    const archived = { status: 409, outcome: "not_executed", members: { state: "archived" } } as const;
    const newcomer = await newInvestor(client, "10");
    expectProblem(await assign(client, pool.login, newcomer), { ...archived, code: "master_not_accepting" });
    expectProblem(await patchMaster(client, pool.id, { name: "Again" }), { ...archived, code: "master_closed" });
  });
}

function balancesOf(logins: readonly string[], amounts: readonly string[]): Record<string, string> {
  return Object.fromEntries(logins.map((login, index) => [login, amounts[index] ?? ""]));
}
