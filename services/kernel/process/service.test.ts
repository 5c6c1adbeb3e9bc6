import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";

const SERVICE = new URL("./service.ts", import.meta.url).href;
const ERRORS = new URL("./startup-error.ts", import.meta.url).href;

type Run = {
  child: ChildProcess;
  ended: Promise<{ code: number | null; out: string; err: string }>;
  until: (text: string) => Promise<void>;
};

/** Runs `start` as the start function of a service in a separate process. */
function run(
  start: string,
  { supervised = false, env = {} }: { supervised?: boolean; env?: Record<string, string> } = {},
): Run {
  const script = `
    import { runService } from "${SERVICE}";
    import { StartupError } from "${ERRORS}";
    import { setTimeout as sleep } from "node:timers/promises";
    const print = (line) => process.stdout.write(line + "\\n");
    const forever = () => setInterval(() => {}, 1000);
    await runService("test", async ({ stack, log, signal, watch, isDraining }) => { ${start} });
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "pipe", ...(supervised ? (["ipc"] as const) : [])],
    env: { ...process.env, LOG_LEVEL: "info", ...env },
  });
  let out = "";
  let err = "";
  child.stdout?.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (err += chunk.toString()));
  // Not "close": it does not come for a child whose channel was disconnected.
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  const ended = Promise.all([once(child, "exit"), ...streams.map((stream) => once(stream, "end"))]).then(() => ({
    code: child.exitCode,
    out,
    err,
  }));
  const until = async (text: string): Promise<void> => {
    while (!out.includes(text)) {
      if (child.exitCode !== null) throw new Error(`ended before it printed ${text}: ${out}${err}`);
      await sleep(10);
    }
  };
  return { child, ended, until };
}

const THREE_RESOURCES = `
  for (const name of ["pool", "broker", "server"]) {
    stack.defer(async () => { await sleep(20); print("released " + name); });
  }
  forever();
`;

test("SIGINT releases the resources in reverse order and exits with 0", async () => {
  const { child, ended, until } = run(THREE_RESOURCES);
  await until("started");

  child.kill("SIGINT");

  const { code, out } = await ended;
  expect(out.match(/released \w+/g)).toEqual(["released server", "released broker", "released pool"]);
  expect(code).toBe(0);
});

test("a service that received its stop signal drains for as long as is set, before it releases anything", async () => {
  const drain = `${THREE_RESOURCES} process.on("SIGTERM", () => setTimeout(() => print("draining " + isDraining()), 100));`;
  const { child, ended, until } = run(drain, { env: { PAMM_DRAIN_DELAY: "PT0.5S" } });
  await until("started");
  const begunAt = performance.now();

  child.kill("SIGTERM");

  const { code, out } = await ended;
  expect(performance.now() - begunAt).toBeGreaterThanOrEqual(500);
  expect(out.match(/draining true|released \w+/g)).toEqual([
    "draining true",
    "released server",
    "released broker",
    "released pool",
  ]);
  expect(code).toBe(0);
});

test("a second signal ends the wait of a service that drains, and its resources are released", async () => {
  const { child, ended, until } = run(THREE_RESOURCES, { env: { PAMM_DRAIN_DELAY: "PT1M" } });
  await until("started");

  child.kill("SIGTERM");
  await until("draining");
  child.kill("SIGTERM");

  const { code, out } = await ended;
  expect(out).toContain("released pool");
  expect(code).toBe(0);
});

test("a supervised service ignores Ctrl-C, which its parent handles, and stops at SIGTERM", async () => {
  const { child, ended, until } = run(THREE_RESOURCES, { supervised: true });
  await until("started");

  child.kill("SIGINT");
  await sleep(200);
  expect(child.exitCode).toBeNull();
  child.kill("SIGTERM");

  expect((await ended).code).toBe(0);
});

test("a service drains also when its output is no longer read", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "service-"));
  const marker = join(folder.path, "released");
  const { child, until } = run(
    `const { writeFileSync } = await import("node:fs");
     stack.defer(() => writeFileSync("${marker}", ""));
     setInterval(() => log.info("still here"), 5);`,
    { supervised: true },
  );
  await until("still here");

  child.stdout?.destroy();
  child.stderr?.destroy();
  await sleep(50);
  child.disconnect();

  const [code] = await once(child, "exit");
  expect(code).toBe(0);
  expect(existsSync(marker)).toBe(true);
});

test("a second signal ends a drain that hangs", async () => {
  const { child, ended, until } = run(
    `stack.defer(() => { print("draining"); return new Promise(() => {}); }); forever();`,
  );
  await until("started");

  child.kill("SIGTERM");
  await until("draining");
  child.kill("SIGTERM");

  expect(await ended).toMatchObject({ code: 1, out: expect.stringContaining("second stop signal") });
});

test("a signal during a start that hangs releases the resources opened so far", async () => {
  const { child, ended, until } = run(`${THREE_RESOURCES} print("half way"); await new Promise(() => {});`);
  await until("half way");

  child.kill("SIGTERM");

  const { code, out } = await ended;
  expect(out).toContain("released pool");
  expect(code).toBe(0);
});

test("a background task that fails stops the service with exit code 1 and releases its resources", async () => {
  const { ended } = run(
    `${THREE_RESOURCES} watch("relay", sleep(50).then(() => { throw new Error("relay broke"); }));`,
  );

  const { code, out } = await ended;
  expect(code).toBe(1);
  expect(out).toContain("relay broke");
  expect(out).toContain('"task":"relay"');
  expect(out).toContain("released pool");
});

test("an uncaught error stops the service with exit code 1 and releases its resources", async () => {
  const { ended } = run(`${THREE_RESOURCES} setTimeout(() => { throw new Error("stray"); }, 50);`);

  const { code, out } = await ended;
  expect(code).toBe(1);
  expect(out).toContain("stray");
  expect(out).toContain("released pool");
});

test("a missing dependency at start is reported in one line, with exit code 1", async () => {
  const { ended } = run(
    `stack.defer(() => print("released")); throw new StartupError("Postgres is not there: start it");`,
  );

  const { code, out, err } = await ended;
  expect(code).toBe(1);
  expect(err).toBe("test cannot start: Postgres is not there: start it\n");
  expect(out).toContain("released");
});

test("a defect at start is logged with its stack", async () => {
  const { ended } = run(`throw new TypeError("defect");`);

  const { code, out, err } = await ended;
  expect(code).toBe(1);
  expect(err).toBe("test cannot start: defect\n");
  expect(out).toContain('"stack":"TypeError: defect');
});
