import { expect, test } from "vitest";
import { startSimulator, type Simulator } from "../start.ts";
import { control } from "../test/fixture.ts";

async function aTrader(simulator: Simulator): Promise<number> {
  const { body } = await control(simulator, "POST", "accounts", {
    group: "pamm\\master",
    name: "Trader",
    balance: "10000",
  });
  await control(simulator, "POST", "prices", { symbol: "EURUSD", bid: "1.10000", ask: "1.10000" });
  return body.login;
}

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
