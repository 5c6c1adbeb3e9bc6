import { expect, test } from "vitest";
import { startSimulator } from "../start.ts";
import { control } from "../test/fixture.ts";
import { connectAuthenticated } from "../test/raw-client.ts";

test("groups, symbols and ticks are returned", async () => {
  await using simulator = await startSimulator({ groups: ["real\\extra"] });
  await using client = await connectAuthenticated(simulator);
  expect((await client.json("/api/group/get?group=pamm%5Cmaster")).answer).toMatchObject({
    Group: "pamm\\master",
    Currency: "USD",
    CurrencyDigits: "2",
    MarginMode: "2",
  });
  expect((await client.json("/api/group/get?group=pamm*")).answer).toHaveLength(3);
  expect((await client.json("/api/group/get?group=none")).retcode).toBe("13 Not found");
  expect((await client.json("/api/group/get?group=real%5Cextra")).answer.Group).toBe("real\\extra");
  expect((await client.json("/api/symbol/get?symbol=EURUSD")).answer).toMatchObject({
    Symbol: "EURUSD",
    Digits: "5",
    ContractSize: "100000.00",
  });
  const tick = await client.json("/api/tick/last?symbol=EURUSD&trans_id=0");
  expect(tick.answer).toMatchObject([{ Symbol: "EURUSD", Bid: "1.10000", Ask: "1.10010", Digits: "5" }]);
  expect((await client.json(`/api/tick/last?symbol=EURUSD&trans_id=${tick["trans_id"]}`)).answer).toEqual([]);
  await control(simulator, "POST", "prices", { symbol: "EURUSD", bid: 1.2, ask: 1.2001 });
  expect((await client.json(`/api/tick/last?symbol=EURUSD&trans_id=${tick["trans_id"]}`)).answer).toMatchObject([
    { Bid: "1.20000", Ask: "1.20010" },
  ]);
});
