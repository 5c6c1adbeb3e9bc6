import { expect, test } from "vitest";
import { startSimulator } from "../start.ts";
import { control } from "../test/fixture.ts";
import { connectAuthenticated } from "../test/raw-client.ts";

test("a buy opens at the ask and is valued and closed at the bid", async () => {
  await using simulator = await startSimulator();
  const { body: account } = await control(simulator, "POST", "accounts", {
    group: "pamm\\master",
    name: "Trader",
    balance: "10000",
  });
  await control(simulator, "POST", "prices", { symbol: "EURUSD", bid: "1.10000", ask: "1.10020" });
  const opened = await control(simulator, "POST", "positions", {
    login: account.login,
    symbol: "EURUSD",
    side: "buy",
    volume: "1.5",
    commission: "-7.50",
  });
  expect(opened.body).toEqual({ position: expect.any(Number), deal: expect.any(Number) });
  await control(simulator, "POST", "prices", { symbol: "EURUSD", bid: 1.105, ask: 1.1052 });
  expect((await control(simulator, "GET", `accounts/${account.login}`)).body).toMatchObject({
    balance: "9992.50",
    floating: "720.00",
    equity: "10712.50",
    margin: "1650.30",
    margin_free: "9062.20",
    open_positions: [
      {
        position: opened.body.position,
        symbol: "EURUSD",
        side: "buy",
        volume: "1.50",
        price_open: "1.10020",
        price_current: "1.10500",
        profit: "720.00",
      },
    ],
  });
  const part = await control(simulator, "POST", `positions/${opened.body.position}/close`, { volume: "0.5" });
  expect(part.body).toEqual({ deal: opened.body.deal + 1, profit: "240.00" });
  expect((await control(simulator, "POST", `positions/${opened.body.position}/close`, { volume: "1.01" })).status).toBe(
    400,
  );
  const rest = await control(simulator, "POST", `positions/${opened.body.position}/close`, { swap: "-1.25" });
  expect(rest.body).toEqual({ deal: opened.body.deal + 2, profit: "480.00" });
  expect((await control(simulator, "GET", `accounts/${account.login}`)).body).toMatchObject({
    balance: "10711.25",
    open_positions: [],
  });
});

test("a position requires its margin and an account that may trade", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const { body: account } = await control(simulator, "POST", "accounts", {
    group: "pamm\\master",
    name: "Trader",
    balance: "1100.09",
  });
  const open = (volume: string) =>
    control(simulator, "POST", "positions", { login: account.login, symbol: "EURUSD", side: "buy", volume });
  expect(await open("1")).toMatchObject({ status: 409, body: { code: "not_enough_money" } });
  await control(simulator, "POST", "balance", { login: account.login, amount: "0.01" });
  expect((await open("1")).status).toBe(200);
  await client.json(`/api/user/update?login=${account.login}&rights=359`);
  expect(await open("0.01")).toMatchObject({ status: 409, body: { code: "trade_disabled" } });
});
