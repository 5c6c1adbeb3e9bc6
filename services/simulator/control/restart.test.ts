import { expect, test } from "vitest";
import { startSimulator } from "../start.ts";
import { addFunded, control, pay } from "../test/fixture.ts";
import { connectAuthenticated } from "../test/raw-client.ts";

test("a restart that loses the last deals reverts balances and positions, and assigns the same tickets again", async () => {
  let nowMs = Date.UTC(2026, 2, 3, 12);
  await using simulator = await startSimulator({ nowMs: () => nowMs });
  const client = await connectAuthenticated(simulator);
  const login = await addFunded(client, "5000.00");
  const open = () =>
    control(simulator, "POST", "positions", { login, symbol: "EURUSD", side: "buy", volume: "0.4", commission: "-1" });
  const kept = (await open()).body;
  const before = (await control(simulator, "GET", `accounts/${login}`)).body;

  nowMs += 60_000;
  const lost = [
    (await pay(client, login, "70.00")).answer.ticket,
    (await client.json(`/api/trade/balance?login=${login}&type=3&balance=9`)).answer.ticket,
    (await control(simulator, "POST", `positions/${kept.position}/close`, { volume: "0.1" })).body.deal,
    (await control(simulator, "POST", `positions/${kept.position}/close`)).body.deal,
    (await open()).body.deal,
  ].map(Number);
  nowMs += 5_000;
  const answer = await control(simulator, "POST", "restart", { forget_ms: 10_000 });
  await client.closed;

  expect(answer.body).toEqual({ forgotten: lost });
  expect((await control(simulator, "GET", `accounts/${login}`)).body).toEqual(before);
  const { body: deals } = await control(simulator, "GET", `accounts/${login}/deals`);
  expect(deals.map(({ deal }: { deal: number }) => deal)).toEqual([kept.deal - 1, kept.deal]);

  await using again = await connectAuthenticated(simulator);
  expect(Number((await pay(again, login, "1.00")).answer.ticket)).toBe(lost[0]);
});
