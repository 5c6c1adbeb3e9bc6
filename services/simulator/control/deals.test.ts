import { expect, test } from "vitest";
import { startSimulator, type Simulator } from "../start.ts";
import { control } from "../test/fixture.ts";
import { connectAuthenticated } from "../test/raw-client.ts";

async function aTrader(simulator: Simulator): Promise<number> {
  const { body } = await control(simulator, "POST", "accounts", {
    group: "pamm\\master",
    name: "Trader",
    balance: "10000",
  });
  await control(simulator, "POST", "prices", { symbol: "EURUSD", bid: "1.10000", ask: "1.10000" });
  return body.login;
}

async function open(simulator: Simulator, login: number, side: "buy" | "sell", volume: string): Promise<number> {
  const { body } = await control(simulator, "POST", "positions", { login, symbol: "EURUSD", side, volume });
  return body.position;
}

test("two opposite positions close each other, and the result is on one of the two deals", async () => {
  await using simulator = await startSimulator();
  const login = await aTrader(simulator);
  const buy = await open(simulator, login, "buy", "0.30");
  await control(simulator, "POST", "prices", { symbol: "EURUSD", bid: "1.10500", ask: "1.10500" });
  const sell = await open(simulator, login, "sell", "0.20");
  expect(await control(simulator, "POST", `positions/${buy}/close-by`, { by: buy })).toMatchObject({ status: 400 });

  const closed = await control(simulator, "POST", `positions/${buy}/close-by`, { by: sell, swap: "-1.00" });

  expect(closed.body).toEqual({ deals: [expect.any(Number), expect.any(Number)], profit: "100.00" });
  const { body: deals } = await control(simulator, "GET", `accounts/${login}/deals`);
  expect(deals.slice(-2)).toMatchObject([
    { action: 1, entry: 3, position: buy, volume: "0.20", profit: "100.00", swap: "-1.00" },
    { action: 0, entry: 3, position: sell, volume: "0.20", profit: "0.00", swap: "0.00" },
  ]);
  expect((await control(simulator, "GET", `accounts/${login}`)).body).toMatchObject({
    balance: "10099.00",
    open_positions: [{ position: buy, volume: "0.10" }],
  });
});

test("a reversal closes the position, books its result and opens the opposite position under the same number", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await aTrader(simulator);
  const position = await open(simulator, login, "buy", "0.10");
  await control(simulator, "POST", "prices", { symbol: "EURUSD", bid: "1.10100", ask: "1.10100" });
  expect((await control(simulator, "POST", `positions/${position}/reverse`, { volume: "0.10" })).status).toBe(400);

  const reversed = await control(simulator, "POST", `positions/${position}/reverse`, { volume: "0.25" });

  expect(reversed.body).toEqual({ deal: expect.any(Number), profit: "10.00" });
  const { answer } = await client.json(`/api/deal/get?ticket=${reversed.body.deal}`);
  expect(answer).toMatchObject({ Action: "1", Entry: "2", VolumeExt: "25000000", VolumeClosedExt: "10000000" });
  expect((await control(simulator, "GET", `accounts/${login}`)).body).toMatchObject({
    balance: "10010.00",
    open_positions: [{ position, side: "sell", volume: "0.15", price_open: "1.10100" }],
  });
});

test("charges and credits are booked without a trade, and trades are refused as such", async () => {
  await using simulator = await startSimulator();
  const login = await aTrader(simulator);
  const book = (action: number, amount: string) =>
    control(simulator, "POST", "deals", { login, action, amount, comment: "booked" });
  for (const action of [7, 8, 9, 10, 11, 12, 15, 16, 17, 18, 19]) {
    expect((await book(action, "-1.00")).status).toBe(200);
  }
  for (const action of [3, 6, 20]) expect((await book(action, "5.00")).status).toBe(200);
  for (const action of [0, 1, 13, 14, 21]) expect((await book(action, "1.00")).status).toBe(400);
  expect((await control(simulator, "GET", `accounts/${login}`)).body).toMatchObject({
    balance: "9989.00",
    credit: "15.00",
  });
});

test("deals can be edited, cancelled and deleted, without a change of balances, also after a restart", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await aTrader(simulator);
  const result = async (profit: string): Promise<number> =>
    (await control(simulator, "POST", "results", { login, profit })).body.deal;
  const [edited, cancelled, removed] = [await result("1.00"), await result("2.00"), await result("3.00")];

  await control(simulator, "POST", `deals/${edited}/edit`, { profit: "9.00", comment: "by hand" });
  await control(simulator, "POST", `deals/${cancelled}/cancel`);
  await control(simulator, "DELETE", `deals/${removed}`);

  const get = (ticket: number | undefined) => client.json(`/api/deal/get?ticket=${ticket}`);
  expect((await get(edited)).answer).toMatchObject({ Profit: "9.00", Comment: "by hand", ModificationFlags: "1" });
  expect((await get(cancelled)).answer).toMatchObject({ Action: "14", Profit: "0.00" });
  expect((await get(removed)).retcode).toBe("13 Not found");
  expect((await control(simulator, "GET", `accounts/${login}`)).body).toMatchObject({ balance: "10006.00" });
  expect((await control(simulator, "POST", `accounts/${login}/fix`)).body).toMatchObject({ balance: "10009.00" });
  expect(await control(simulator, "POST", "deals/1/cancel")).toMatchObject({
    status: 404,
    body: { code: "unknown_deal" },
  });
});

test("a compensation pays exactly what the balance is below zero, and nothing when it is not", async () => {
  await using simulator = await startSimulator();
  const login = await aTrader(simulator);
  expect(await control(simulator, "POST", "compensations", { login })).toMatchObject({
    status: 409,
    body: { code: "not_negative" },
  });
  await control(simulator, "POST", "results", { login, profit: "-10500" });
  const { body } = await control(simulator, "POST", "compensations", { login });
  expect(body).toEqual({ deal: expect.any(Number), amount: "500.00" });
  const { body: deals } = await control(simulator, "GET", `accounts/${login}/deals`);
  expect(deals.at(-1)).toMatchObject({ deal: body.deal, action: 19, profit: "500.00" });
  expect((await control(simulator, "GET", `accounts/${login}`)).body).toMatchObject({ balance: "0.00" });
});
