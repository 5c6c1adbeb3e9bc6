import { expect, test } from "vitest";
import { startSimulator } from "../start.ts";
import { addUser, control } from "../test/fixture.ts";
import { connectAuthenticated } from "../test/raw-client.ts";

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
