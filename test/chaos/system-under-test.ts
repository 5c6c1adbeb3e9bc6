import { freePort } from "../../deploy/local/ports.ts";
import type { AnsweredRequest } from "../journey/support/money-request.ts";
import { type Client, clientOf } from "../journey/support/client.ts";
import { newInvestor } from "../journey/support/client-requests.ts";
import { startTestSystem, type TestSystem } from "../journey/support/system.ts";
import { pooled } from "../journey/support/trading.ts";
import { openLink, type Link } from "./link.ts";

/** The system, its network link to the simulator, and the accounts of its customers. */
export type SystemUnderTest = {
  readonly system: TestSystem;
  /** Between platform and the simulator. */
  readonly link: Link;
  readonly client: Client;
  readonly logins: readonly string[];
  /** All requests since the start of the system. */
  readonly all: AnsweredRequest[];
  readonly quietPeriodMs: number;
};

const QUIET_PERIOD_S = 20;
/** The capital of the Investors in a pool, and of those without a Master. */
const POOLED = ["1000", "2000"];
const OUTSIDE = ["500", "500"];

export async function startSystemUnderTest(): Promise<SystemUnderTest & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const simulatorPort = await freePort();
  const link = stack.use(await openLink(simulatorPort));
  const settings = { PAMM_QUIET_PERIOD: `PT${QUIET_PERIOD_S}S`, SIM_PORT: String(simulatorPort) };
  const system = stack.use(await startTestSystem({ ...settings, SIM_DIAL_PORT: String(link.port) }));
  const client = clientOf(system);
  const { investors } = await pooled(client, POOLED);
  const outside = await Promise.all(OUTSIDE.map((capital) => newInvestor(client, capital)));
  const kept = stack.move();
  return {
    system,
    link,
    client,
    logins: [...investors, ...outside],
    all: [],
    quietPeriodMs: QUIET_PERIOD_S * 1_000,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
