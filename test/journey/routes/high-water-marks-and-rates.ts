import { expect, test } from "vitest";
import { textOf } from "../../../deploy/demo/exact-json.ts";
import type { Client } from "../support/client.ts";
import { expectDone, withdraw } from "../support/client-requests.ts";
import { bookResult, expectBalances, pooled } from "../support/trading.ts";

/** Worked examples of the accounting: the high-water mark in a drawdown, rates by time, fees switched off. */
export function highWaterMarksAndRates(client: () => Client): void {
  const update = (body: object) => client().post("/api/v1/investor/perf-fee/update", body);

  test("a withdrawal in a drawdown pays no fee and keeps the high-water mark", async () => {
    const master = await pooled(client(), ["10000"]);
    const [investor = ""] = master.investors;
    await bookResult(client(), master.login, "-2000");

    const first = await withdraw(client(), investor, "4000");
    expect(first.body).toMatchObject({ perf_fee_pending_at_request: "0.00", effective_withdraw: "4000" });
    await bookResult(client(), master.login, "1200");
    const second = await withdraw(client(), investor, "0.01");
    expect(second.body).toMatchObject({ perf_fee_pending_at_request: "0.00", balance_before: "5200.00" });
    await bookResult(client(), master.login, "1000");
    const third = await withdraw(client(), investor, "0.01");
    expect(third.body).toMatchObject({ perf_fee_pending_at_request: "60.00", available_after_perf_fee: "6139.99" });
    await expectBalances(client(), { [investor]: "6139.98", [master.login]: "6139.98", [master.paymentLogin]: "60" });
  });

  test("each result has the rate of its own time, and a loss reduces the newest profit first", async () => {
    const master = await pooled(client(), ["10000"], 0.2);
    const [investor = ""] = master.investors;
    await bookResult(client(), master.login, "1000");
    await expectBalances(client(), { [investor]: "11000" });
    // As a client does that reads a configuration, changes its rate and sends it back: the start that it has read is the stored one.
    const { body: read } = await client().get(`/api/v1/investor/${investor}/performance-fee`);
    const stored = { effective_since: textOf(read, "effective_since") };
    const changed = await update({ investor_login: investor, rate: 0.3, ...stored });
    expect(changed.headers.get("x-retroactive-since"), changed.text).toBeNull();
    expect(changed.body).toMatchObject({ rate: "0.300000" });
    expect(changed.body).not.toMatchObject(stored);
    await bookResult(client(), master.login, "500");
    await bookResult(client(), master.login, "-700");

    const { body } = await withdraw(client(), investor, "0.01");
    expect(body).toMatchObject({ perf_fee_pending_at_request: "160.00", balance_before: "10800.00" });
    await expectBalances(client(), { [investor]: "10639.99", [master.paymentLogin]: "160" });
  });

  test("no fee is collected while fees are disabled, nor later for profits of that time", async () => {
    const master = await pooled(client(), ["10000"]);
    const [investor = ""] = master.investors;
    await bookResult(client(), master.login, "400");
    await expectBalances(client(), { [investor]: "10400" });
    await expectDone(update({ investor_login: investor, enabled: false }));
    await bookResult(client(), master.login, "600");

    const off = await withdraw(client(), investor, "0.01");
    expect(off.body).toMatchObject({ perf_fee_pending_at_request: "0.00", balance_before: "11000.00" });
    await expectDone(update({ investor_login: investor, enabled: true }));
    await bookResult(client(), master.login, "200");
    const on = await withdraw(client(), investor, "0.01");
    expect(on.body).toMatchObject({ perf_fee_pending_at_request: "180.00", balance_before: "11199.99" });
    await expectBalances(client(), { [investor]: "11019.98", [master.paymentLogin]: "180" });
  });
}
