import { freePort } from "../../deploy/local/ports.ts";
import type { Asked } from "../journey/support/asked.ts";
import { type Client, clientOf } from "../journey/support/client.ts";
import { newInvestor } from "../journey/support/people.ts";
import { startTestSystem, type TestSystem } from "../journey/support/system.ts";
import { pooled } from "../journey/support/trading.ts";
import { layLine, type Line } from "./line.ts";

/** Where it happens; `all` grows with everything that was ever asked of the system. */
export type Stage = {
  readonly system: TestSystem;
  /** Between platform and the simulator. */
  readonly line: Line;
  readonly client: Client;
  readonly logins: readonly string[];
  readonly all: Asked[];
  readonly quietPeriodMs: number;
};

const QUIET_PERIOD_S = 20;
/** Some whose money is with a Master, and some who follow nobody yet. */
const POOLED = ["1000", "2000"];
const OUTSIDE = ["500", "500"];

export async function aStage(): Promise<Stage & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const simulatorPort = await freePort();
  const line = stack.use(await layLine(simulatorPort));
  const settings = { PAMM_QUIET_PERIOD: `PT${QUIET_PERIOD_S}S`, SIM_PORT: String(simulatorPort) };
  const system = stack.use(await startTestSystem({ ...settings, SIM_DIAL_PORT: String(line.port) }));
  const client = clientOf(system);
  const { investors } = await pooled(client, POOLED);
  const outside = await Promise.all(OUTSIDE.map((capital) => newInvestor(client, capital)));
  const kept = stack.move();
  return {
    system,
    line,
    client,
    logins: [...investors, ...outside],
    all: [],
    quietPeriodMs: QUIET_PERIOD_S * 1_000,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
