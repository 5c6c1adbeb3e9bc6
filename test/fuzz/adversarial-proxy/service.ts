import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "#kernel/contract/contract.ts";
import { identityVariables } from "#kernel/testing/identity.ts";
import { owningClient } from "#test/support/owning-client.ts";
import type { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { freePort } from "../../../deploy/local/ports.ts";
import { cleanEnvironment, run, type Running } from "../../journey/support/running.ts";
import type { AdversarialProxy } from "./proxy.ts";

/** The platform service as a process that can be killed. */
export type PlatformProcess = AsyncDisposable & {
  readonly client: Client<PlatformServiceService>;
  /** SIGKILL, and after a pause a new process on the same port. */
  readonly kill: (pauseMs: number) => Promise<void>;
  /** Output of all its processes. */
  readonly output: () => string;
  /** Number of processes that ended without a kill. */
  readonly crashes: () => number;
};

type Options = { readonly proxy: AdversarialProxy; readonly databaseUrl: string; readonly natsUrl: string };

const SHORT_WAITS = new URL("./short-waits.ts", import.meta.url).href;
const MAIN = join(import.meta.dirname, "../../../services/platform/main.ts");
const START_TRIES = 10;

export async function startPlatformProcess(options: Options): Promise<PlatformProcess> {
  const port = await freePort();
  const env = { ...environmentOf(options, port), ...(await identityVariables("platform")) };
  const processes: Running[] = [];
  const killed = new Set<Running>();
  let crashes = 0;
  const startProcess = async (): Promise<Running> => {
    for (let tries = 1; ; tries += 1) {
      const started = run([process.execPath, "--import", SHORT_WAITS, MAIN], env);
      processes.push(started);
      try {
        await started.waitFor('"msg":"started"');
        void started.ended.then(() => (crashes += killed.has(started) ? 0 : 1));
        return started;
      } catch (error) {
        // A faulty connection may end the start; no other failure is expected.
        if (tries === START_TRIES || !started.output().includes("platform cannot start: no session")) throw error;
      }
    }
  };
  let current = await startProcess();
  const end = async (): Promise<void> => {
    killed.add(current);
    current.signal("SIGKILL");
    await current.ended;
  };
  const client = await owningClient(`127.0.0.1:${port}`);
  return {
    client,
    output: () => processes.map(({ output }) => output()).join(""),
    crashes: () => crashes,
    async kill(pauseMs) {
      await end();
      await sleep(pauseMs);
      current = await startProcess();
    },
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await end();
    },
  };
}

function environmentOf({ proxy, databaseUrl, natsUrl }: Options, port: number): NodeJS.ProcessEnv {
  const { caFile, managerLogin, managerPassword } = proxy.simulator;
  return {
    ...cleanEnvironment(),
    PLATFORM_DATABASE_URL: databaseUrl,
    NATS_URL: natsUrl,
    GRPC_PORT: String(port),
    // No service answers: the checks of the rows behind transfers and accounts fail.
    ACCOUNT_GRPC_URL: "127.0.0.1:1",
    FEE_GRPC_URL: "127.0.0.1:1",
    FUNDING_GRPC_URL: "127.0.0.1:1",
    SUBSCRIPTION_GRPC_URL: "127.0.0.1:1",
    MT5_URL: proxy.url,
    MT5_CA_FILE: caFile,
    MT5_LOGIN: String(managerLogin),
    MT5_PASSWORD: managerPassword,
    MT5_TIME_ZONE: "Europe/Athens",
    MT5_SESSIONS: "16",
    MT5_READ_INTERVAL: "PT1S",
    MT5_COMMAND_TIMEOUT: "PT1.2S",
    // The second scan without the deal may begin one second after half of this period.
    PAMM_QUIET_PERIOD: "PT2.4S",
    PAMM_REHEARSAL: "true",
    LOG_LEVEL: "info",
  };
}
