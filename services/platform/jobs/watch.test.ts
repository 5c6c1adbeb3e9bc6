import { expect, test } from "vitest";
import { platformClockDiffers } from "../metrics.ts";
import { startPlatformServer } from "../mt5/testing/platform-server.ts";
import { silentLog } from "../mt5/testing/test-client.ts";
import { metricValues } from "#test/support/metric-values.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit } from "../testing/requests.ts";
import { aCall, anAccount, aProcess } from "../testing/world.ts";
import { compareClocks, watchOutcomes } from "./watch.ts";

test("a zone that lacks a change of the platform's clock is shown as a difference until the two agree again", async () => {
  let nowMs = Date.UTC(2026, 2, 8, 6, 59);
  await using platform = await startPlatformServer({ timeZone: "America/New_York+07:00", nowMs: () => nowMs });
  using mt5 = platform.client({ timeZone: "Europe/Athens", now: () => new Date(nowMs) });
  const login = await platform.account("1.00");
  const lines: string[] = [];
  const log = { ...silentLog, error: (message: string) => lines.push(message) };
  const differs = async () => {
    await compareClocks({ mt5, log });
    return (await platformClockDiffers.get()).values[0]?.value;
  };
  const allDeals = () => mt5.readDeals(login, { from: new Date(0), to: new Date(nowMs) });
  expect(await differs()).toBe(0);
  expect(await allDeals()).toHaveLength(1);

  nowMs += 2 * 60_000;
  await expect.poll(differs).toBe(1);
  await expect(allDeals()).rejects.toMatchObject({ problem: "clock_differs" });
  expect(lines[0]).toBe("clock of the trading platform differs, no deal is read until operators have corrected it");

  nowMs = Date.UTC(2026, 2, 29, 1, 1);
  await expect.poll(differs).toBe(0);
  expect(await allDeals()).toHaveLength(1);
});

test("legs of unknown outcome are shown with the money at risk, and no more once their outcome is known", async (context) => {
  const { world, instance } = await aProcess(context);
  const [first, second] = [await anAccount(instance), await anAccount(instance)];
  await watchOutcomes(instance.deps);
  expect(await metricValues("pamm_unknown_outcomes")).toEqual({ SENDING: 0, UNKNOWN: 0 });

  await world.control.fault({ command: "trade/balance", effect: "drop_before", times: 2 });
  const lost = [aDeposit(first, 100_00n), aDeposit(second, 20_50n)];
  const sent = await Promise.all(lost.map((transfer) => instance.service.transfer(transfer, aCall(2_500))));
  expect(sent.map(({ state }) => state)).toEqual([TransferState.UNKNOWN, TransferState.UNKNOWN]);
  await watchOutcomes(instance.deps);

  expect(await metricValues("pamm_unknown_outcomes")).toEqual({ SENDING: 0, UNKNOWN: 2 });
  expect(await metricValues("pamm_unknown_outcomes_cents")).toEqual({ SENDING: 0, UNKNOWN: 120_50 });
  expect((await metricValues("pamm_unknown_outcomes_oldest_seconds"))["UNKNOWN"]).toBeGreaterThan(1);

  await expect
    .poll(
      async () => {
        await watchOutcomes(instance.deps);
        return await metricValues("pamm_unknown_outcomes_cents");
      },
      { timeout: 60_000, interval: 500 },
    )
    .toEqual({ SENDING: 0, UNKNOWN: 0 });
});
