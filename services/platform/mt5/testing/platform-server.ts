import { Secret } from "#kernel/values/secret.ts";
import { testSimulator, type TestSimulator, type TestSimulatorOptions } from "#test/support/simulator.ts";
import type { Mt5Client, Mt5Settings } from "../client.ts";
import { aClient, silentLog } from "./test-client.ts";

/** The simulator over real TLS, with access to its control API. */
export type PlatformServer = AsyncDisposable & {
  readonly simulator: TestSimulator;
  readonly client: (own?: Partial<Mt5Settings>) => Mt5Client;
  readonly control: <Answer = Record<string, unknown>>(method: string, path: string, body?: object) => Promise<Answer>;
  readonly fault: (command: string, effect: string, more?: object) => Promise<void>;
  /** Deals of a login as the simulator stores them. */
  readonly deals: (login: string) => Promise<readonly ShownDeal[]>;
  /** A new investor account with this balance. */
  readonly account: (balance?: string) => Promise<string>;
};

export type ShownDeal = { deal: number; action: number; profit: string; comment: string };

export async function startPlatformServer(options: TestSimulatorOptions = {}): Promise<PlatformServer> {
  const simulator = await testSimulator({ log: silentLog, ...options });
  const control = async <Answer>(method: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(`${simulator.controlUrl}/control/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Answer;
  };
  return {
    simulator,
    control,
    client: (own = {}) =>
      aClient(simulator, {
        credentials: { login: String(simulator.managerLogin), password: new Secret(simulator.managerPassword) },
        timeZone: options.timeZone ?? "Europe/Athens",
        ...own,
        limits: { commandTimeoutMs: 2_000, ...own.limits },
      }),
    fault: async (command, effect, more = {}) => {
      await control("POST", "faults", { command, effect, ...more });
    },
    deals: (login) => control("GET", `accounts/${login}/deals`),
    account: async (balance) => {
      const body = { group: String.raw`pamm\investor`, name: "Ann", ...(balance === undefined ? {} : { balance }) };
      const account = await control<{ login: number | string }>("POST", "accounts", body);
      return String(account.login);
    },
    [Symbol.asyncDispose]: () => simulator[Symbol.asyncDispose](),
  };
}
