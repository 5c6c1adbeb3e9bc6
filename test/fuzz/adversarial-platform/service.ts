import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "#kernel/contract/contract.ts";
import { grpcClient } from "#kernel/grpc/client.ts";
import { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { freePort } from "../../../deploy/local/ports.ts";
import { cleanEnvironment } from "../../journey/support/running.ts";
import { type AdversarialPlatform, MANAGER } from "./start.ts";

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

export type PlatformProcessOptions = {
  readonly platform: AdversarialPlatform;
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly quietPeriod: string;
};

const MAIN = join(import.meta.dirname, "../../../services/platform/main.ts");
const IS_STARTED = '"msg":"started"';
const CANNOT_START = "platform cannot start: the trading platform";
const START_MS = 60_000;
const START_TRIES = 10;
const POLL_MS = 20;

export async function startPlatformProcess(options: PlatformProcessOptions): Promise<PlatformProcess> {
  const folder = mkdtempSync(join(tmpdir(), "pamm-fuzz-"));
  const port = await freePort();
  const env = environmentOf(options, folder, port);
  const runs: Run[] = [];
  const startProcess = async (): Promise<void> => {
    for (let tries = 0; tries < START_TRIES; tries += 1) {
      const run = begin(env);
      runs.push(run);
      if (await run.starts()) return;
    }
    throw new Error(`the platform service did not start:\n${runs.at(-1)?.output()}`);
  };
  await startProcess();
  const client = grpcClient(`127.0.0.1:${port}`, { contract: PlatformServiceService, caller: "fuzz" });
  return {
    client,
    output: () => runs.map(({ output }) => output()).join(""),
    crashes: () => runs.filter(({ hasCrashed }) => hasCrashed()).length,
    async kill(pauseMs) {
      await runs.at(-1)?.end();
      await sleep(pauseMs);
      await startProcess();
    },
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await runs.at(-1)?.end();
      rmSync(folder, { recursive: true });
    },
  };
}

type Run = {
  readonly output: () => string;
  /** False when the process ended before it was ready, because the trading platform refused it. */
  readonly starts: () => Promise<boolean>;
  readonly end: () => Promise<void>;
  readonly hasCrashed: () => boolean;
};

/** The process is killed when this process ends in any way. */
function begin(env: NodeJS.ProcessEnv): Run {
  const child: ChildProcess = spawn("setpriv", ["--pdeathsig", "KILL", process.execPath, MAIN], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  let isWanted = true;
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, "close");
  return {
    output: () => text,
    hasCrashed: () => isWanted && child.exitCode !== null && !text.includes(CANNOT_START),
    async starts() {
      const until = Date.now() + START_MS;
      while (!text.includes(IS_STARTED) && child.exitCode === null && Date.now() < until) await sleep(POLL_MS);
      return text.includes(IS_STARTED);
    },
    async end() {
      isWanted = isWanted && child.exitCode !== null;
      child.kill("SIGKILL");
      await ended;
    },
  };
}

function environmentOf(
  { platform, databaseUrl, natsUrl, quietPeriod }: PlatformProcessOptions,
  folder: string,
  port: number,
): NodeJS.ProcessEnv {
  const caFile = join(folder, "ca.pem");
  writeFileSync(caFile, platform.ca);
  return {
    ...cleanEnvironment(),
    PLATFORM_DATABASE_URL: databaseUrl,
    NATS_URL: natsUrl,
    GRPC_PORT: String(port),
    MT5_URL: platform.url,
    MT5_CA_FILE: caFile,
    MT5_LOGIN: MANAGER.login,
    MT5_PASSWORD: MANAGER.password,
    MT5_SESSIONS: "16",
    MT5_READ_INTERVAL: "PT1S",
    PAMM_QUIET_PERIOD: quietPeriod,
    PAMM_REHEARSAL: "true",
    LOG_LEVEL: "info",
  };
}
