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

/** The platform service as a process of its own, which may be killed. */
export type PlatformProcess = AsyncDisposable & {
  readonly client: Client<PlatformServiceService>;
  /** SIGKILL, and after a pause a new process on the same port. */
  readonly kill: (pauseMs: number) => Promise<void>;
  /** Everything that all its lives said. */
  readonly said: () => string;
  /** Ends of lives that nobody asked for. */
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
  const lives: Life[] = [];
  const live = async (): Promise<void> => {
    for (let tries = 0; tries < START_TRIES; tries += 1) {
      const life = begin(env);
      lives.push(life);
      if (await life.starts()) return;
    }
    throw new Error(`the platform service did not start:\n${lives.at(-1)?.said()}`);
  };
  await live();
  const client = grpcClient(`127.0.0.1:${port}`, { contract: PlatformServiceService, caller: "fuzz" });
  return {
    client,
    said: () => lives.map(({ said }) => said()).join(""),
    crashes: () => lives.filter(({ hasCrashed }) => hasCrashed()).length,
    async kill(pauseMs) {
      await lives.at(-1)?.end();
      await sleep(pauseMs);
      await live();
    },
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await lives.at(-1)?.end();
      rmSync(folder, { recursive: true });
    },
  };
}

type Life = {
  readonly said: () => string;
  /** False when it gave up because the platform did not let it in: whoever watches over it begins again. */
  readonly starts: () => Promise<boolean>;
  readonly end: () => Promise<void>;
  readonly hasCrashed: () => boolean;
};

/** It dies with us, however we die. */
function begin(env: NodeJS.ProcessEnv): Life {
  const child: ChildProcess = spawn("setpriv", ["--pdeathsig", "KILL", process.execPath, MAIN], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  let isWanted = true;
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, "close");
  return {
    said: () => text,
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
