import { expect, test } from "vitest";
import { startSimulator } from "../start.ts";
import { addFunded, addUser, control } from "../test/fixture.ts";
import { connectAuthenticated } from "../test/raw-client.ts";

const ALWAYS = "from=0&to=9999999999";

test("a trade is an entry, a position and one or more exits", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await addFunded(client, "5000.00");
  const { body } = await control(simulator, "POST", "positions", {
    login,
    symbol: "EURUSD",
    side: "sell",
    volume: "0.50",
    commission: "-3.50",
  });
  await control(simulator, "POST", "prices", { symbol: "EURUSD", bid: "1.08990", ask: "1.09000" });
  const [position] = (await client.json(`/api/position/get_page?login=${login}&offset=0&total=100`)).answer;
  expect(position).toMatchObject({
    Position: String(body.position),
    Login: login,
    Symbol: "EURUSD",
    Action: "1",
    PriceOpen: "1.10000",
    PriceCurrent: "1.09000",
    PriceSL: "0.00000",
    Volume: "5000",
    VolumeExt: "50000000",
    Profit: "500.00",
    Storage: "0.00",
    ContractSize: "100000.00",
  });
  expect((await client.json(`/api/position/get_total?login=${login}`)).answer).toEqual({ total: "1" });
  expect((await client.json(`/api/position/get?login=${login}&symbol=EURUSD`)).answer).toEqual(position);
  expect((await client.json(`/api/position/get_batch?ticket=${body.position}`)).answer).toEqual([position]);
  expect((await client.json(`/api/position/get?login=${login}&symbol=GBPUSD`)).retcode).toBe("13 Not found");
  expect((await client.json(`/api/position/get_page?login=${login}&total=101`)).retcode).toBe("3 Invalid parameters");

  await control(simulator, "POST", `positions/${body.position}/close`, {
    volume: 0.2,
    swap: "-1.00",
    commission: "-2.00",
  });
  await control(simulator, "POST", `positions/${body.position}/close`);
  const deals = (await client.json(`/api/deal/get_page?login=${login}&${ALWAYS}&offset=1&total=100`)).answer;
  expect(deals).toMatchObject([
    { Action: "1", Entry: "0", Price: "1.10000", VolumeExt: "50000000", Profit: "0.00", Commission: "-3.50" },
    {
      Action: "0",
      Entry: "1",
      Price: "1.09000",
      VolumeExt: "20000000",
      Profit: "200.00",
      Storage: "-1.00",
      Commission: "-2.00",
    },
    { Action: "0", Entry: "1", Price: "1.09000", VolumeExt: "30000000", VolumeClosed: "3000", Profit: "300.00" },
  ]);
  expect(new Set(deals.map(({ PositionID }: { PositionID: string }) => PositionID))).toEqual(
    new Set([position.Position]),
  );
  expect((await client.json(`/api/position/get_total?login=${login}`)).answer).toEqual({ total: "0" });
  expect((await client.json(`/api/user/get?login=${login}`)).answer.Balance).toBe("5493.50");
});

test("groups, symbols and ticks are returned, and lists of orders are empty", async () => {
  await using simulator = await startSimulator({ groups: ["real\\extra"] });
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client);
  expect((await client.json("/api/group/total")).answer).toEqual({ total: "6" });
  expect((await client.json("/api/group/get?group=pamm%5Cmaster")).answer).toMatchObject({
    Group: "pamm\\master",
    Currency: "USD",
    CurrencyDigits: "2",
    MarginMode: "2",
  });
  expect((await client.json("/api/group/get?group=pamm*")).answer).toHaveLength(3);
  expect((await client.json("/api/group/get?group=none")).retcode).toBe("13 Not found");
  expect((await client.json("/api/group/next?index=5")).answer.Group).toBe("real\\extra");
  expect((await client.json("/api/group/next?index=0&count=2")).answer).toHaveLength(2);
  expect((await client.json("/api/group/next?index=6")).retcode).toBe("13 Not found");
  expect((await client.json("/api/symbol/get?symbol=EURUSD")).answer).toMatchObject({
    Symbol: "EURUSD",
    Digits: "5",
    ContractSize: "100000.00",
  });
  expect((await client.json("/api/symbol/total")).answer).toEqual({ total: "1" });
  const tick = await client.json("/api/tick/last?symbol=EURUSD&trans_id=0");
  expect(tick.answer).toMatchObject([{ Symbol: "EURUSD", Bid: "1.10000", Ask: "1.10010", Digits: "5" }]);
  expect((await client.json(`/api/tick/last?symbol=EURUSD&trans_id=${tick["trans_id"]}`)).answer).toEqual([]);
  await control(simulator, "POST", "prices", { symbol: "EURUSD", bid: 1.2, ask: 1.2001 });
  expect((await client.json(`/api/tick/last?symbol=EURUSD&trans_id=${tick["trans_id"]}`)).answer).toMatchObject([
    { Bid: "1.20000", Ask: "1.20010" },
  ]);
  for (const kind of ["order", "history"]) {
    expect((await client.json(`/api/${kind}/get_total?login=${login}`)).answer).toEqual({ total: "0" });
    expect((await client.json(`/api/${kind}/get_page?login=${login}&offset=0&total=100`)).answer).toEqual([]);
    expect((await client.json(`/api/${kind}/get?ticket=5`)).retcode).toBe("13 Not found");
  }
});

test("ticks come while a session is open; the last one stays when it closes, until the first price of the next session", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const ageOfTick = async (): Promise<number> => {
    const [tick] = (await client.json("/api/tick/last?symbol=EURUSD&trans_id=0")).answer;
    const { answer } = await client.json("/api/time/server");
    return Number(answer.time.split(" ")[0]) - Number(tick.Datetime);
  };
  const sessions = async (): Promise<{ Open: string; Close: string }[][]> =>
    (await client.json("/api/symbol/get?symbol=EURUSD")).answer.SessionsTrades;
  const setPrice = (more: object) =>
    control(simulator, "POST", "prices", { symbol: "EURUSD", bid: 1.2, ask: 1.2001, ...more });
  expect(await sessions()).toEqual(Array.from({ length: 7 }, () => [{ Open: "0", Close: "1440" }]));
  expect(await ageOfTick()).toBe(0);

  const { answer } = await client.json("/api/time/server");
  const friday = (Number(answer.time.split(" ")[0]) - 48 * 3_600) * 1_000;
  expect((await setPrice({ time_msc: friday })).status).toBe(200);
  expect(await ageOfTick()).toBeGreaterThanOrEqual(48 * 3_600);
  expect((await setPrice({ time_msc: friday + 49 * 3_600_000 })).status).toBe(400);
  expect((await control(simulator, "POST", "sessions", { symbol: "EURUSD", open: false })).status).toBe(200);
  expect(await sessions()).toEqual(Array.from({ length: 7 }, () => []));
  expect((await control(simulator, "POST", "sessions", { symbol: "EURUSD", open: true })).status).toBe(200);
  expect((await sessions()).flat()).toHaveLength(7);
  expect(await ageOfTick()).toBeGreaterThanOrEqual(48 * 3_600);
  await setPrice({});
  expect(await ageOfTick()).toBeLessThan(2);
});
