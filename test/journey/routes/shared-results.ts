import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Client } from "../support/client.ts";
import { assign, expectDone, newInvestor, unassign, withdraw } from "../support/people.ts";
import { expectProblem } from "../support/problem.ts";
import { exactly } from "../support/shape.ts";
import {
  bookResult,
  closePosition,
  everythingOf,
  expectBalances,
  openPosition,
  pooled,
  setPrice,
} from "../support/trading.ts";

/** Mirror and strike follow within seconds; nothing outside shows when the strike has been. */
const STRIKE_MS = 4_000;
const BLOCKED = {
  status: 409,
  code: "master_open_positions",
  outcome: "not_executed",
  members: { open_positions: exactly(1) },
} as const;

/** Worked examples of the accounting: who gets what of a result, and what open positions mean for everybody. */
export function sharedResults(client: () => Client): void {
  test("three equal Investors share to the cent and pay each their own (F9)", async () => {
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

  test("whoever is on a flat Master shares in its next deal, however soon that comes", async () => {
    const master = await pooled(client(), ["1000"]);
    const [first = ""] = master.investors;
    // Without a pause after the mirror: no marks are needed to say what money is worth on a Master without positions.
    await bookResult(client(), master.login, "100");
    await expectBalances(client(), { [first]: "1100" });
    const second = await newInvestor(client(), "1100");
    await expectDone(assign(client(), master.login, second, 0.3));
    await expectBalances(client(), { [master.login]: "2200" });
    await bookResult(client(), master.login, "100");
    await expectBalances(client(), { [first]: "1150", [second]: "1150", [master.login]: "2300" });
  });

  test("who deposits while a position floats neither pays for nor gains from what floated before (A1)", async () => {
    const master = await pooled(client(), ["1000"]);
    const [early = ""] = master.investors;
    const late = await newInvestor(client(), "550");
    await setPrice(client(), "1.10000");
    const position = await openPosition(client(), master.login);
    await setPrice(client(), "1.14500");
    await expectDone(assign(client(), master.login, late, 0.3));
    await expectBalances(client(), { [master.login]: "1550" });
    await sleep(STRIKE_MS);
    await setPrice(client(), "1.24500");
    await closePosition(client(), position);

    await expectBalances(client(), { [early]: "2175", [late]: "825", [master.login]: "3000" });
  });

  test("while positions are open nobody withdraws or leaves, and not a cent moves", async () => {
    const master = await pooled(client(), ["1000", "500"]);
    const [investor = "", other = ""] = master.investors;
    await bookResult(client(), master.login, "150");
    await expectBalances(client(), { [investor]: "1100", [other]: "550" });
    await setPrice(client(), "1.10000");
    const position = await openPosition(client(), master.login);
    const accounts = [investor, other, master.login, master.paymentLogin];
    const before = await everythingOf(client(), accounts);

    expectProblem(await withdraw(client(), investor, "100"), BLOCKED);
    expectProblem(await unassign(client(), master.login, investor), BLOCKED);

    await sleep(1_000);
    expect(await everythingOf(client(), accounts)).toEqual(before);
    const list = await client().get(`/api/v1/info/subscriptions?investor_login=${investor}`);
    expect(list.items).toMatchObject([{ status: "ACTIVE", in_pool: true }]);
    await closePosition(client(), position);
    const { body } = await withdraw(client(), investor, "100");
    expect(body).toMatchObject({ perf_fee_pending_at_request: "30.00", effective_withdraw: "100" });
    await expectBalances(client(), { [investor]: "970", [other]: "550", [master.login]: "1520" });
  });
}
