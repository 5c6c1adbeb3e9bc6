import { expect, test } from "vitest";
import { metricValues } from "#test/support/metric-values.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit } from "../testing/requests.ts";
import { aCall, anAccount, aProcess } from "../testing/world.ts";
import { watchOutcomes } from "./watch-outcomes.ts";

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
