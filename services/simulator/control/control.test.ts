import { get } from "node:http";
import { expect, test } from "vitest";
import { startSimulator } from "../start.ts";
import { control } from "../test/fixture.ts";

test("an existing account is listed with its balance, and its login is outside the reserved range", async () => {
  await using simulator = await startSimulator({ reservedLogins: { first: 900_000, last: 900_200 } });
  const created = await control(simulator, "POST", "accounts", { group: "pamm\\master", name: "Zoë", balance: 1000.5 });
  expect(created).toEqual({
    status: 200,
    body: {
      login: 900_201,
      group: "pamm\\master",
      rights: 0x163,
      archived: false,
      name: "Zoë",
      balance: "1000.50",
      credit: "0.00",
      equity: "1000.50",
      floating: "0.00",
      margin: "0.00",
      margin_free: "1000.50",
      open_positions: [],
    },
  });
  const named = await control(simulator, "POST", "accounts", { login: 900_100, group: "pamm\\payment", name: "Pay" });
  expect(named.body).toMatchObject({ login: 900_100, balance: "0.00" });
  expect(await control(simulator, "GET", "accounts/900201")).toEqual(created);
  expect((await control(simulator, "GET", "accounts")).body).toEqual([created.body, named.body]);
  expect((await control(simulator, "GET", "accounts/900201/deals")).body).toEqual([
    {
      deal: 100_001,
      time_msc: expect.any(Number),
      action: 2,
      entry: 0,
      position: 0,
      symbol: "",
      volume: "0.00",
      price: "0.00000",
      profit: "1000.50",
      swap: "0.00",
      commission: "0.00",
      comment: "Deposit",
    },
  ]);
  const again = { login: 900_100, group: "pamm\\payment", name: "Pay" };
  expect(await control(simulator, "POST", "accounts", again)).toMatchObject({
    status: 409,
    body: { code: "login_exists" },
  });
});

test("all errors of a body are reported together", async () => {
  await using simulator = await startSimulator();
  const refused = async (path: string, body: unknown) => {
    const answer = await control(simulator, "POST", path, body);
    return [answer.status, answer.body.errors?.map(({ field }: { field: string }) => field)];
  };
  expect(await refused("accounts", { group: "nowhere", balance: "-1", colour: 1 })).toEqual([
    400,
    ["group", "name", "balance", "colour"],
  ]);
  expect(await refused("prices", { symbol: "XAUUSD", bid: "1.234567", ask: 0 })).toEqual([
    400,
    ["symbol", "bid", "ask"],
  ]);
  expect(await refused("prices", { symbol: "EURUSD", bid: "1.2", ask: "1.1" })).toEqual([400, ["ask"]]);
  expect(await refused("positions", { login: "x", side: "long", volume: 0, commission: "1.001" })).toEqual([
    400,
    ["login", "side", "volume", "commission", "symbol"],
  ]);
  expect(await refused("results", {})).toEqual([400, ["login", "profit"]]);
  expect(await refused("balance", { login: 1, amount: "0" })).toEqual([400, ["amount"]]);
  expect(await refused("faults", { command: "trade/nothing", effect: "explode", times: 0, after: -1 })).toEqual([
    400,
    ["command", "effect", "times", "after"],
  ]);
  expect(await refused("faults", { command: "*", effect: "http:199" })).toEqual([400, ["effect"]]);
  expect(await refused("restart", { forget_ms: "soon" })).toEqual([400, ["forget_ms"]]);
  expect(await refused("results", [])).toEqual([400, []]);
});

test("broken JSON, unknown routes and unknown logins are answered as JSON", async () => {
  await using simulator = await startSimulator();
  const broken = await fetch(`${simulator.controlUrl}/control/results`, { method: "POST", body: "{" });
  expect([broken.status, await broken.json()]).toMatchObject([400, { code: "invalid_body" }]);
  expect(await control(simulator, "GET", "accounts/4242")).toMatchObject({
    status: 404,
    body: { code: "unknown_account" },
  });
  expect(await control(simulator, "GET", "accounts/abc/deals")).toMatchObject({ status: 404 });
  expect(await control(simulator, "POST", "positions/5/close")).toMatchObject({
    status: 404,
    body: { code: "unknown_position" },
  });
  expect(await control(simulator, "GET", "nothing")).toMatchObject({ status: 404, body: { code: "unknown_route" } });
  expect(await control(simulator, "POST", "results", { login: 4242, profit: 1 })).toMatchObject({ status: 404 });
});

test("requests of web pages are refused", async () => {
  await using simulator = await startSimulator();
  const asPage = await fetch(`${simulator.controlUrl}/control/stats`, { headers: { origin: "http://evil.example" } });
  expect(asPage.status).toBe(403);
});

test("on every address only requests for a loopback host name are answered", async () => {
  await using simulator = await startSimulator({ controlHost: "0.0.0.0" });
  const port = simulator.controlPort;
  const statusFor = (host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const headers = { host: `${host}:${port}` };
      get({ host: "127.0.0.1", port, path: "/control/stats", headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on("error", reject);
    });
  expect(await statusFor("localhost")).toBe(200);
  expect(await statusFor("127.0.0.1")).toBe(200);
  expect(await statusFor("simulator")).toBe(403);
  expect(simulator.controlUrl).toBe(`http://localhost:${port}`);
});
