import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Kill, runDemoWhileKilling } from "../chaos/kill-during-demo.ts";
import { IS_PROOF } from "../support/proof.ts";
import { type Client, clientOf, eventually, untilKnown } from "./support/client.ts";
import { assign, expectDone, newInvestor } from "./support/client-requests.ts";
import { proofOf } from "./support/proof.ts";
import { startTestSystem, type TestSystem } from "./support/system.ts";
import { bookResult, closePosition, expectBalances, openPosition, pooled, setPrice } from "./support/trading.ts";

// Set here, because vitest marks the options object of a concurrent test as concurrent, and so every test that shares the object.
vi.setConfig({ testTimeout: 300_000 });

/**
 * Pools with open positions, which are valued every second. A day begins on the server before or after it does in UTC. A system of its own:
 * sessions are asked for once a minute, other tests trade all the time, and its fee weeks are short.
 */
const START_TIMEOUT_MS = 180_000;

let system: TestSystem;
let client: Client;

beforeAll(async () => {
  system = await startTestSystem({
    PAMM_FEE_PERIOD: "PT20S",
    PAMM_VALUATION_INTERVAL: "PT1S",
    PAMM_MAX_TICK_AGE: "PT1S",
  });
  client = clientOf(system);
}, START_TIMEOUT_MS);
afterAll(() => system[Symbol.asyncDispose](), START_TIMEOUT_MS);

async function recordOf(login: string, query = "") {
  const { status, body } = await client.get(`/api/v1/info/master/${login}/performance${query}`);
  expect(status).toBe(200);
  return JSON.parse(JSON.stringify(body)) as unknown;
}

/** First, because no session has been asked for yet. */
test("who joins while the market is closed has no part of the gap with which it opens", async () => {
  const session = (open: boolean) => client.control("POST", "sessions", { symbol: "EURUSD", open });
  await setPrice(client, "1.10000");
  const pool = await pooled(client, ["100000"], 0);
  const { login, investors } = pool;
  const position = await openPosition(client, login, "10");
  await session(false);
  // The last price is older than PAMM_MAX_TICK_AGE.
  await sleep(1_500);
  const joining = await newInvestor(client, "100000");
  await expectDone(assign(untilKnown(client), login, joining, 0));
  await expectBalances(client, { [login]: "200000" });
  await eventually(async () => {
    const { body } = await proofOf(client, pool, 1);
    const message = expect.stringContaining("The last price of EURUSD") as string;
    expect(body["waits"]).toMatchObject([{ reason: "old_price", message }]);
  });
  await session(true);
  await setPrice(client, "1.11000");
  await eventually(async () => {
    expect((await proofOf(client, pool)).body).toMatchObject({ converged: true, waits: [] });
  });
  await closePosition(client, position);
  await expectBalances(client, { [login]: "210000", [investors[0] ?? ""]: "110000", [joining]: "100000" });
});

test("a Master that floats at -60 % and closes at +5 % has a drawdown of 0.6, and what is free when flat follows the price", async () => {
  await setPrice(client, "1.10000");
  const { login, investors } = await pooled(client, ["1000"], 0);
  const position = await openPosition(client, login);
  await setPrice(client, "1.04000");
  await eventually(async () => expect(await recordOf(login)).toMatchObject({ closing_nav_per_unit: "0.4" }));
  const open = { withdrawal_blocked_by: ["master_open_positions"], free_to_withdraw: "0", free_when_flat: "400" };
  // What passes within seconds, such as a reading of the account, blocks a withdrawal too.
  await eventually(async () => {
    const { body: equity } = await client.get(`/api/v1/info/investor/${investors[0]}/equity`);
    expect(equity).toMatchObject(open);
  });

  await setPrice(client, "1.10500");
  await closePosition(client, position);
  const closed = { closing_nav_per_unit: "1.05", time_weighted_return: "0.05", max_drawdown: "0.6" };
  await eventually(async () => expect(await recordOf(login)).toMatchObject(closed));
  expect(await recordOf(login, "?day=server")).toMatchObject(closed);
});

test("a pool that was lost whole returns -1, whatever came afterwards", async () => {
  const { login, investors } = await pooled(client, ["1000"], 0);
  await bookResult(client, login, "-1000.00");
  await eventually(async () => expect(await recordOf(login)).toMatchObject({ closing_nav_per_unit: "0" }));
  const anew = `/api/v1/investor/deposit?login=${investors[0]}&amount=1000&comment=anew`;
  expect((await client.post(anew)).status).toBe(200);
  // It joins at the next deal after it has reached the Master.
  await expectBalances(client, { [login]: "1000" });
  await bookResult(client, login, "100.00");
  const lost = { closing_nav_per_unit: "1.1", time_weighted_return: "-1", max_drawdown: "1" };
  await eventually(async () => expect(await recordOf(login)).toMatchObject({ ...lost, points: [{ change: "-1" }] }));
});

/** In `make test` the other scenario, the life of an Investor, runs while processes are killed (`test/chaos/kills.ts`). */
test("every balance and every fee matches at the end of a fortnight of the demo", async () => {
  const demo = system.demo("fortnight");
  expect(await demo.ended, demo.output()).toBe(0);
  expect(demo.output().match(/Every balance matches to the cent\./g)).toHaveLength(1);
});

/** Three demos run at once. Only one at a time has open positions, because the simulator has one price. */
const KILLS: Readonly<Record<string, readonly Kill[]>> = {
  "allocation, sending, weekly fees": [
    ["subscription", "Monday: a profit"],
    ["platform", "The price rises further"],
    ["fee", "The week ends: the regular run"],
  ],
  "the database, the simulator, withdrawals": [
    ["postgres", "A loss: "],
    ["simulator", "A recovery"],
    ["funding", "Ada withdraws"],
  ],
  "the broker, the close of the week, collection": [
    ["nats", "Cleo is assigned"],
    ["subscription", "The second week ends"],
    ["fee", "Ben is unassigned"],
  ],
};

/** Takes some minutes, because the demos wait for each other. In `make test`, `test/chaos/kills.ts` kills processes. */
describe.runIf(IS_PROOF)("a fortnight of trading with killed processes", () => {
  test("every fee is correct after all processes are killed at once and restarted", async () => {
    await runDemoWhileKilling(system, "fortnight", [["everything", "A loss: "]]);
  });

  test.concurrent.each(Object.keys(KILLS))(
    "every fee is correct after processes are killed during: %s",
    async (name) => {
      await runDemoWhileKilling(system, "fortnight", KILLS[name] ?? []);
    },
  );
});
