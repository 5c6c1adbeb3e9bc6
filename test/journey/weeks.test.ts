import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Client, clientOf } from "./support/client.ts";
import { expectFeesToReconcile } from "./support/fees.ts";
import { startTestSystem, type TestSystem } from "./support/system.ts";
import { bookResult, closePosition, expectBalances, openPosition, pooled, setPrice } from "./support/trading.ts";
import { untilNextWeek } from "./support/weeks.ts";

/** Fee weeks of seconds. The last test restarts the system, so it runs alone. */
const START_TIMEOUT_MS = 180_000;
const TIMEOUT = { timeout: 600_000 };
const WEEK_MS = 10_000;

let system: TestSystem;
let client: Client;

beforeAll(async () => {
  system = await startTestSystem({ PAMM_FEE_PERIOD: `PT${WEEK_MS / 1_000}S` });
  client = clientOf(system);
}, START_TIMEOUT_MS);
afterAll(() => system[Symbol.asyncDispose](), START_TIMEOUT_MS);

test.concurrent("a loss is recovered before a fee is charged again (F2)", TIMEOUT, async () => {
  const master = await pooled(client, ["10000"]);
  const [investor = ""] = master.investors;
  const weeks = [
    { result: "1000", balance: "10700" },
    { result: "-600", balance: "10100" },
    { result: "400", balance: "10500" },
    { result: "500", balance: "10910" },
  ];
  for (const { result, balance } of weeks) {
    await untilNextWeek(system);
    await bookResult(client, master.login, result);
    await expectBalances(client, { [investor]: balance, [master.login]: balance });
  }

  await expectBalances(client, { [master.paymentLogin]: "390" });
  const { payments } = await expectFeesToReconcile(client, master);
  expect(payments.map(({ minor, key, runId }) => [minor, key.replace(`:${runId}:`, ":run:")])).toEqual([
    [300_00n, `PF:${investor}:${master.login}:run:W`],
    [90_00n, `PF:${investor}:${master.login}:run:W`],
  ]);
  const cutOffs = payments.map(({ periodEnd }) => Date.parse(`${periodEnd}Z`));
  expect(cutOffs.map((cutOff) => cutOff % WEEK_MS)).toEqual([0, 0]);
});

test.concurrent(
  "an open loss at the cut-off lowers the fee, and the rest is charged later (F10)",
  TIMEOUT,
  async () => {
    const master = await pooled(client, ["10000"]);
    const [investor = ""] = master.investors;
    await untilNextWeek(system);
    await bookResult(client, master.login, "1000");
    await setPrice(client, "1.10000");
    const position = await openPosition(client, master.login);
    await setPrice(client, "1.06000");
    await expectBalances(client, { [investor]: "10820", [master.login]: "10820", [master.paymentLogin]: "180" });

    await untilNextWeek(system);
    await closePosition(client, position);
    await expectBalances(client, { [investor]: "10420" });
    await untilNextWeek(system);
    await bookResult(client, master.login, "100");
    await expectBalances(client, { [investor]: "10490", [master.login]: "10490", [master.paymentLogin]: "210" });
    await expectFeesToReconcile(client, master);
  },
);

test("a week that ends while the system is stopped is closed as of its own end (F12)", TIMEOUT, async () => {
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
  expect(payments.map(({ minor, periodEnd }) => [minor, Date.parse(`${periodEnd}Z`)])).toEqual([[200_00n, cutOff]]);
});
