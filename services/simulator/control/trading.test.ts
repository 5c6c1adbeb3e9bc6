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

test("an account opens nothing while a dealer has disabled its trading, and closes what it has", async () => {
  await using simulator = await startSimulator();
  const { body: account } = await control(simulator, "POST", "accounts", {
    group: "pamm\\master",
    name: "Trader",
    balance: "10000",
  });
  const { login } = account;
  const order = { login, symbol: "EURUSD", side: "buy", volume: "0.01" };
  const { body: opened } = await control(simulator, "POST", "positions", order);
  const setRights = (rights: unknown) => control(simulator, "POST", `accounts/${login}/rights`, { rights });
  expect(account).toMatchObject({ rights: 0x163 });
  expect(await setRights(0x167)).toMatchObject({ status: 200, body: { login, rights: 0x167 } });
  const refused = [
    await control(simulator, "POST", "positions", order),
    await control(simulator, "POST", "results", { login, profit: "1.00" }),
    await control(simulator, "POST", `positions/${opened.position}/reverse`, { volume: "0.02" }),
  ];
  for (const { status, body } of refused) {
    expect([status, body.code, body.message]).toEqual([
      409,
      "trade_disabled",
      `account ${login} may not trade: its rights are 0x167`,
    ]);
  }
  expect((await control(simulator, "POST", `positions/${opened.position}/close`, {})).status).toBe(200);
  expect((await setRights(-1)).status).toBe(400);
  await setRights(0x163);
  expect((await control(simulator, "POST", "results", { login, profit: "1.00" })).status).toBe(200);
});

test("a result has exactly the requested amount, requires no margin and leaves no position", async () => {
  await using simulator = await startSimulator();
  const { body: account } = await control(simulator, "POST", "accounts", { group: "pamm\\master", name: "T" });
  const { login } = account;
  const result = await control(simulator, "POST", "results", {
    login,
    profit: "123.45",
    swap: "-0.40",
    commission: "-7.00",
  });
  const { body: deals } = await control(simulator, "GET", `accounts/${login}/deals`);
  expect(deals).toMatchObject([
    { action: 0, entry: 0, symbol: "EURUSD", volume: "1.00", profit: "0.00", commission: "0.00" },
    { deal: result.body.deal, action: 1, entry: 1, profit: "123.45", swap: "-0.40", commission: "-7.00" },
  ]);
  expect(deals[0].position).toBe(deals[1].position);
  await control(simulator, "POST", "results", { login, profit: -200 });
  expect((await control(simulator, "GET", `accounts/${login}`)).body).toMatchObject({
    balance: "-83.95",
    open_positions: [],
  });
});

test("a dealer moves money without the service, but not below zero", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const { body: account } = await control(simulator, "POST", "accounts", {
    group: "demo\\forex",
    name: "T",
    balance: 50,
  });
  const move = (amount: string, comment?: string) =>
    control(simulator, "POST", "balance", { login: account.login, amount, comment });
  expect(await move("-50.01")).toMatchObject({ status: 409, body: { code: "not_enough_money" } });
  const moved = await move("-20.00", "by hand");
  const { answer } = await client.json(`/api/deal/get?ticket=${moved.body.deal}`);
  expect(answer).toMatchObject({ Profit: "-20.00", Comment: "by hand", Action: "2", Dealer: "1" });
});
