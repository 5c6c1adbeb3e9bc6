import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { addUser, control, pay } from "./test/fixture.ts";
import { connectAuthenticated, type Login } from "./test/raw-client.ts";

const MAIN = join(import.meta.dirname, "main.ts");
const SESSIONS = 8;

type Running = { readonly process: ChildProcess; readonly errors: () => string };

async function stateFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "simulator-crash-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function spawnSimulator(stateDir: string, env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env["PATH"] ?? "",
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      PAMM_STATE_DIR: stateDir,
      SIM_PORT: "0",
      SIM_CONTROL_PORT: "0",
      MT5_LOGIN: "1005",
      MT5_PASSWORD: "Manager#1005",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let errors = "";
  child.stdout.resume();
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  return { process: child, errors: () => errors };
}

/** The ports file is written when both interfaces listen. */
async function portsOf(stateDir: string, { process: child, errors }: Running): Promise<Login & { controlUrl: string }> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(errors());
    const text = await readFile(join(stateDir, "simulator", "ports.json"), "utf8").catch(() => "{}");
    const ports = JSON.parse(text) as { pid?: number; port: number; controlUrl: string; caFile: string };
    if (ports.pid === child.pid) {
      const ca = await readFile(ports.caFile, "utf8");
      return { ...ports, ca, managerLogin: 1005, managerPassword: "Manager#1005" };
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

async function kill({ process: child }: Running, signal: NodeJS.Signals): Promise<void> {
  const exit = once(child, "exit");
  child.kill(signal);
  await exit;
}

test("every answered payment is stored after repeated SIGKILL under load", async () => {
  const stateDir = await stateFolder();
  const answered: { ticket: number; comment: string }[] = [];
  let sent = 0;
  let login = "";
  for (let run = 0; run < 3; run += 1) {
    const running = spawnSimulator(stateDir);
    const simulator = await portsOf(stateDir, running);
    const clients = await Promise.all(Array.from({ length: SESSIONS }, () => connectAuthenticated(simulator)));
    login ||= await addUser(clients[0]!);
    const senders = clients.map(async (client) => {
      for (;;) {
        sent += 1;
        const comment = `n${sent}`;
        const { answer } = await client.json(`/api/trade/balance?login=${login}&type=2&balance=1&comment=${comment}`);
        answered.push({ ticket: Number(answer.ticket), comment });
      }
    });
    const ended = Promise.allSettled(senders);
    const before = answered.length;
    while (answered.length < before + 200) await new Promise((resolve) => setTimeout(resolve, 5));
    await kill(running, "SIGKILL");
    await ended;
  }

  const running = spawnSimulator(stateDir);
  const simulator = await portsOf(stateDir, running);
  const { body: deals } = await control(simulator, "GET", `accounts/${login}/deals`);
  const comments = new Map<number, string>(
    deals.map(({ deal, comment }: { deal: number; comment: string }) => [deal, comment]),
  );
  expect(answered.filter(({ ticket, comment }) => comments.get(ticket) !== comment)).toEqual([]);
  expect(comments.size).toBeLessThanOrEqual(sent);
  expect(new Set(comments.values()).size).toBe(comments.size);
  const { body: account } = await control(simulator, "GET", `accounts/${login}`);
  expect(account.balance).toBe(`${comments.size}.00`);
  await kill(running, "SIGTERM");
  expect(running.process.exitCode).toBe(0);
  expect(running.errors()).toBe("");
});

test("a second process on the same folder exits with one error line", async () => {
  const stateDir = await stateFolder();
  const first = spawnSimulator(stateDir);
  const simulator = await portsOf(stateDir, first);
  const second = spawnSimulator(stateDir);
  await once(second.process, "exit");
  expect(second.process.exitCode).toBe(1);
  expect(second.errors()).toMatch(
    new RegExp(`^simulator cannot start: another simulator \\(process ${first.process.pid}\\) uses this folder.*\\n$`),
  );
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client);
  expect((await pay(client, login, "1")).retcode).toBe("0 Done");
});

test("all invalid environment variables are reported together, without their values", async () => {
  const running = spawnSimulator(await stateFolder(), {
    MT5_LOGIN: "-secret-",
    MT5_PASSWORD: "",
    SIM_TIME_ZONE: "Mars/Olympus",
    SIM_PORT: "99999",
  });
  await once(running.process, "exit");
  const lines = running.errors().trimEnd().split("\n");
  expect(lines.map((line) => /(MT5|SIM)_\w+/.exec(line)?.[0] ?? line).toSorted()).toEqual([
    "MT5_LOGIN",
    "MT5_PASSWORD",
    "SIM_PORT",
    "SIM_TIME_ZONE",
  ]);
  expect(running.errors()).not.toContain("-secret-");
});
