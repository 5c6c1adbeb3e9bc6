import { expectFeesToReconcile } from "../../journey/support/fees.ts";
import type { TestSystem } from "../../journey/support/system.ts";
import { centsOf } from "../engine/cents.ts";
import type { Investor, Master } from "../engine/world.ts";
import type { InternalState } from "./internal-state.ts";
import { addLiveInvestor, addLiveMaster, type Live, openLive, masterAccountsOf, WeekCrossedError } from "./live.ts";
import { expectHistory, expectSubscriptions, untilEqual } from "./until-equal.ts";
import * as steps from "./steps.ts";

/** Tries of an example, which has to end within one week. */
const MAX_TRIES = 8;

/** Runs an example, again from the start when a week ended during it; then checks that accounts and fees reconcile. */
export async function runExample(
  system: TestSystem,
  internal: InternalState,
  example: (live: Live) => Promise<void>,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const live = await openLive(system, internal);
    try {
      await example(live);
      await untilEqual(live);
      await expectSubscriptions(live);
      await expectHistory(live);
      for (const master of live.world.masters) await expectFeesToReconcile(live.client, masterAccountsOf(live, master));
      return;
    } catch (error) {
      if (!(error instanceof WeekCrossedError) || tries === MAX_TRIES) throw error;
    }
  }
}

export type Pool = { readonly master: Master; readonly investors: readonly Investor[] };

/** A Master and its Investors, each with its capital in the pool. */
export async function pooled(live: Live, capitals: readonly string[], ratePpm = 300_000n): Promise<Pool> {
  const master = await addLiveMaster(live);
  const investors = [];
  for (const capital of capitals) investors.push(await newPooledInvestor(live, master, capital, ratePpm));
  return { master, investors };
}

export async function newPooledInvestor(
  live: Live,
  master: Master,
  capital: string,
  ratePpm = 300_000n,
): Promise<Investor> {
  const investor = await addLiveInvestor(live);
  await steps.deposit(live, investor, centsOf(capital));
  await steps.assign(live, investor, master, { ratePpm, enabled: true });
  return investor;
}
