import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { ROOT } from "./launch.ts";
import { withoutSettings } from "../demo/temporary-system.ts";
import { fixedPorts } from "./ports.ts";
import { recordedProcess } from "./process-id.ts";
import { SERVICES } from "../provision/services.ts";
import { makeRunFolder } from "../../test/support/run-folder.ts";
import { pidFile } from "./state.ts";

const RUN = join(import.meta.dirname, "run.ts");
const POLL_MS = 20;

/** Answers that it is ready, prints two log lines, and records its stop in ORDER_FILE. */
const FAKE_SERVICE = `
  import { appendFileSync } from "node:fs";
  import { createServer } from "node:http";
  const name = process.argv[1].split("/").at(-2);
  const { ORDER_FILE, PAMM_HTTP_PORT, SIM_CONTROL_PORT, PAMM_METRICS_PORT, FAILING } = process.env;
  if (FAILING === name) {
    console.error(name + " cannot start: FAILING names it");
    process.exit(1);
  }
  const port = name === "edge" ? PAMM_HTTP_PORT : name === "simulator" ? SIM_CONTROL_PORT : PAMM_METRICS_PORT;
  createServer((request, response) => response.end(JSON.stringify(process.env))).listen(Number(port), "127.0.0.1");
  process.on("SIGTERM", () => setTimeout(() => {
    appendFileSync(ORDER_FILE, name + "\\n");
    process.exit(0);
  }, 50));
  process.once("disconnect", () => setTimeout(() => process.exit(0), Number(process.env.EXIT_DELAY_MS ?? 0)));
  console.log(JSON.stringify({ level: "info", msg: "not for the terminal" }));
  console.log(JSON.stringify({ level: "warn", msg: "a warning", code: name }));
`;

export type TestWorkspace = {
  readonly root: string;
  readonly stateDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stopped: () => string[];
  readonly start: (env?: NodeJS.ProcessEnv) => Launcher;
  readonly pidOf: (name: string) => number | undefined;
};

export type Launcher = {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ready: () => Promise<void>;
  readonly prints: (text: string) => Promise<void>;
  readonly ended: Promise<number | null>;
};

/** A folder with fake services, but for the real ones that are named, and a state folder of its own, and free ports. */
export async function createTestWorkspace(real: readonly string[] = []): Promise<TestWorkspace> {
  const folder = makeRunFolder();
  const root = folder.path;
  for (const service of [...SERVICES, "simulator"]) {
    mkdirSync(join(root, "services", service), { recursive: true });
    const program = `import ${JSON.stringify(join(ROOT, "services", service, "main.ts"))};`;
    writeFileSync(join(root, "services", service, "main.ts"), real.includes(service) ? program : FAKE_SERVICE);
  }
  writeFileSync(join(root, "package.json"), `{ "type": "module" }`);
  const stateDir = join(root, "state");
  const orderFile = join(root, "order");
  const env = {
    ...withoutSettings(process.env),
    PAMM_STATE_DIR: stateDir,
    ORDER_FILE: orderFile,
    ...(await fixedPorts()),
    PAMM_METRICS_PORT: "0",
  };
  const launchers: Launcher[] = [];
  onTestFinished(async () => {
    for (const { child } of launchers) child.kill("SIGTERM");
    await Promise.all(launchers.map(({ ended }) => ended));
    folder[Symbol.dispose]();
  });
  return {
    root,
    stateDir,
    env,
    stopped: () => (existsSync(orderFile) ? readFileSync(orderFile, "utf8").trim().split("\n") : []),
    pidOf: (name) => recordedProcess(pidFile(stateDir, name)),
    start(more = {}) {
      const launcher = startLauncher(root, { ...env, ...more });
      launchers.push(launcher);
      return launcher;
    },
  };
}

export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(POLL_MS);
}

function startLauncher(root: string, env: NodeJS.ProcessEnv): Launcher {
  // In a process group of its own, as a terminal starts it.
  const child = spawn(process.execPath, [RUN, root], { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const prints = async (wanted: string): Promise<void> => {
    await until(() => text.includes(wanted) || child.exitCode !== null);
    if (!text.includes(wanted)) throw new Error(`ended before it printed ${wanted}: ${text}`);
  };
  return { child, ended, output: () => text, prints, ready: () => prints("Ctrl-C stops everything") };
}
