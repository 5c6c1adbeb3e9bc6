import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Client, clientOf, eventually, untilKnown } from "./support/client.ts";
import { assign, expectDone, newInvestor } from "./support/client-requests.ts";
import { proofOf } from "./support/proof.ts";
import { startTestSystem, type TestSystem } from "./support/system.ts";
import { closePosition, expectBalances, openPosition, pooled, setPrice } from "./support/trading.ts";

/** The weekend of a market. It has a system of its own: sessions are asked for once a minute, and other tests trade all the time. */
const START_TIMEOUT_MS = 180_000;

let system: TestSystem;
let client: Client;

beforeAll(async () => {
  system = await startTestSystem({ PAMM_MAX_TICK_AGE: "PT1S" });
  client = clientOf(system);
}, START_TIMEOUT_MS);
afterAll(async () => await system[Symbol.asyncDispose](), START_TIMEOUT_MS);

test(
  "who joins while the market is closed has no part of the gap with which it opens",
  async () => {
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
  },
  START_TIMEOUT_MS,
);
