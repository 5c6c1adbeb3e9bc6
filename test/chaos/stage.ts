import { clientOf } from "../journey/support/client.ts";
import { newInvestor } from "../journey/support/people.ts";
import { startTestSystem } from "../journey/support/system.ts";
import { pooled } from "../journey/support/trading.ts";
import type { Stage } from "./play.ts";

const QUIET_PERIOD_S = 20;
/** Some whose money is with a Master, and some who follow nobody yet. */
const POOLED = ["1000", "2000"];
const OUTSIDE = ["500", "500"];

export async function aStage(): Promise<Stage & AsyncDisposable> {
  const system = await startTestSystem({ PAMM_QUIET_PERIOD: `PT${QUIET_PERIOD_S}S` });
  try {
    const client = clientOf(system);
    const { investors } = await pooled(client, POOLED);
    const outside = await Promise.all(OUTSIDE.map((capital) => newInvestor(client, capital)));
    const dispose = async (): Promise<void> => system[Symbol.asyncDispose]();
    return {
      system,
      client,
      logins: [...investors, ...outside],
      all: [],
      quietPeriodMs: QUIET_PERIOD_S * 1_000,
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await system[Symbol.asyncDispose]();
    throw error;
  }
}
