import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Client, untilKnown } from "../support/client.ts";
import { assign, expectDone, newInvestor, unassign, withdraw } from "../support/client-requests.ts";
import { expectProblem } from "../support/problem.ts";
import { exactly } from "../support/shape.ts";
import {
  bookResult,
  closePosition,
  dealsOfAll,
  expectBalances,
  openPosition,
  pooled,
  setPrice,
} from "../support/trading.ts";

/** The mirror and the strike follow within seconds; no route shows the strike. */
const STRIKE_MS = 4_000;
const BLOCKED = {
  status: 409,
  code: "master_open_positions",
  outcome: "not_executed",
  members: { open_positions: exactly(1) },
} as const;

/** Worked examples of the accounting: shares in a result, and the effect of open positions on deposits and exits. */
export function allocations(client: () => Client): void {
  test("three equal Investors share a result to the cent, and each pays its own fee", async () => {
    const master = await pooled(client(), ["1000", "1000", "1000"], 0.333333);
    const [one = "", two = "", three = ""] = master.investors;
    await bookResult(client(), master.login, "100");
    await expectBalances(client(), { [one]: "1033.34", [two]: "1033.33", [three]: "1033.33", [master.login]: "3100" });

    for (const [investor, fee] of [
      [one, "11.11"],
      [two, "11.10"],
      [three, "11.10"],
    ] as const) {
      const { body } = await withdraw(client(), investor, "0.01");
      expect(body).toMatchObject({ perf_fee_pending_at_request: fee });
    }
    await expectBalances(client(), { [master.login]: "3066.66", [master.paymentLogin]: "33.31" });
  });

  test("an Investor assigned to a Master without positions shares in the next deal", async () => {
    const master = await pooled(client(), ["1000"]);
    const [first = ""] = master.investors;
    // Without a pause after the mirror: a Master without positions needs no mark for the value of its units.
    await bookResult(client(), master.login, "100");
    await expectBalances(client(), { [first]: "1100" });
    const second = await newInvestor(client(), "1100");
    await expectDone(assign(untilKnown(client()), master.login, second, 0.3));
    await expectBalances(client(), { [master.login]: "2200" });
    await bookResult(client(), master.login, "100");
    await expectBalances(client(), { [first]: "1150", [second]: "1150", [master.login]: "2300" });
  });

  test("a deposit while a position is open has no share in the floating result before it", async () => {
    const master = await pooled(client(), ["1000"]);
    const [early = ""] = master.investors;
    const late = await newInvestor(client(), "550");
    await setPrice(client(), "1.10000");
    const position = await openPosition(client(), master.login);
    await setPrice(client(), "1.14500");
    await expectDone(assign(untilKnown(client()), master.login, late, 0.3));
    await expectBalances(client(), { [master.login]: "1550" });
    await sleep(STRIKE_MS);
    await setPrice(client(), "1.24500");
    await closePosition(client(), position);

    await expectBalances(client(), { [early]: "2175", [late]: "825", [master.login]: "3000" });
  });

  test("withdrawals and unassigns are refused while positions are open, and no money moves", async () => {
    const master = await pooled(client(), ["1000", "500"]);
    const [investor = "", other = ""] = master.investors;
    await bookResult(client(), master.login, "150");
    await expectBalances(client(), { [investor]: "1100", [other]: "550" });
    await setPrice(client(), "1.10000");
    const position = await openPosition(client(), master.login);
    const accounts = [investor, other, master.login, master.paymentLogin];
    const before = await dealsOfAll(client(), accounts);

    expectProblem(await withdraw(client(), investor, "100"), BLOCKED);
    expectProblem(await unassign(client(), master.login, investor), BLOCKED);

    await sleep(1_000);
    expect(await dealsOfAll(client(), accounts)).toEqual(before);
    const list = await client().get(`/api/v1/info/subscriptions?investor_login=${investor}`);
    expect(list.items).toMatchObject([{ status: "ACTIVE", in_pool: true }]);
    await closePosition(client(), position);
    const { body } = await withdraw(client(), investor, "100");
    expect(body).toMatchObject({ perf_fee_pending_at_request: "30.00", effective_withdraw: "100" });
    await expectBalances(client(), { [investor]: "970", [other]: "550", [master.login]: "1520" });
  });
}
