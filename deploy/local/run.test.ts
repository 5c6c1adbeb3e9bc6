import { mkdtempDisposableSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { expect, onTestFinished, test, vi } from "vitest";
import { startOf } from "#kernel/process/process-start.ts";
import { setUpAllStreams } from "../nats/streams.ts";
import { startNats } from "./nats.ts";
import { SERVICES } from "../provision/services.ts";
import { createTestWorkspace, until } from "./test-workspace.ts";

// Each test starts up to nineteen processes.
vi.setConfig({ testTimeout: 120_000 });

const EVERYTHING = [...SERVICES, "simulator"];

/** Avoids the start of stores and simulator in tests that do not need them. */
const EXTERNAL = {
  DATABASE_URL: "postgres://user@127.0.0.1:1/pamm",
  NATS_URL: "nats://127.0.0.1:1",
  MT5_URL: "https://127.0.0.1:1",
};

const environmentOf = async (port: string | undefined): Promise<NodeJS.ProcessEnv> =>
  (await (await fetch(`http://127.0.0.1:${port}/`)).json()) as NodeJS.ProcessEnv;

const postmasterOf = ({ stateDir }: { readonly stateDir: string }): number =>
  Number.parseInt(readFileSync(join(stateDir, "postgres/postmaster.pid"), "utf8"), 10);

test("each service receives its own secrets only, killed stores are restarted, Ctrl-C stops all in order, and starts succeed after every kind of end", async () => {
  const workspace = await createTestWorkspace();
  // Without NATS_URL it is of no use, and still a secret of the operator.
  const first = workspace.start({ NATS_SETUP_URL: "nats://operator:secret@127.0.0.1:1" });
  await first.ready();
  const keys = readFileSync(join(workspace.stateDir, "secret/api-key"), "utf8");
  expect(first.output()).toContain(keys.trim());
  await first.prints("funding      warn: a warning code=funding");
  expect(first.output()).not.toContain("not for the terminal");
  const edge = await environmentOf(workspace.env["PAMM_HTTP_PORT"]);
  const simulator = await environmentOf(workspace.env["SIM_CONTROL_PORT"]);
  expect(edge).toMatchObject({
    EDGE_DATABASE_URL: expect.stringContaining("//pamm_edge:"),
    PAMM_MIGRATE: "check",
    PAMM_HTTP_HOST: "127.0.0.1",
  });
  for (const name of ["FUNDING_DATABASE_URL", "MT5_PASSWORD", "NATS_SETUP_URL"]) expect(edge[name]).toBeUndefined();
  expect(JSON.stringify(edge)).not.toMatch(/MIGRATION_URL|_owner:/);
  expect(simulator["PAMM_ENCRYPTION_KEY"]).toBeUndefined();
  expect(simulator).toMatchObject({ SIM_IDLE_CLOSE: "PT10S", PAMM_STATE_DIR: workspace.stateDir });

  const broker = Number.parseInt(readFileSync(join(workspace.stateDir, "nats/nats-server.pid"), "utf8"), 10);
  for (const pid of [postmasterOf(workspace), broker]) process.kill(pid, "SIGKILL");
  await first.prints("postgres runs again");
  await first.prints("nats runs again");

  // To the whole group, as a terminal does.
  process.kill(-first.child.pid!, "SIGINT");
  expect(await first.ended).toBe(0);
  const stopped = workspace.stopped();
  expect(stopped[0]).toBe("edge");
  expect(stopped.slice(1, 5).toSorted()).toEqual(["account", "fee", "funding", "subscription"]);
  expect(stopped.slice(5)).toEqual(["platform", "simulator"]);

  const second = workspace.start();
  await second.ready();
  expect(readFileSync(join(workspace.stateDir, "secret/api-key"), "utf8")).toBe(keys);
  expect(statSync(join(workspace.stateDir, "secret/encryption-key")).mode & 0o777).toBe(0o600);
  const pids = () => [...EVERYTHING.map((name) => workspace.pidOf(name)!), postmasterOf(workspace)];
  const ofSecond = pids();
  second.child.kill("SIGKILL");
  const third = workspace.start();
  await third.ready();
  expect(ofSecond.filter((pid) => startOf(pid) !== "")).toEqual([]);

  for (const pid of [third.child.pid!, ...pids()]) process.kill(pid, "SIGKILL");
  await workspace.start().ready();
});

test("a second launcher on the same state is refused, and a service that is killed is restarted at once", async () => {
  const workspace = await createTestWorkspace();
  const launcher = workspace.start(EXTERNAL);
  await launcher.ready();

  const second = workspace.start({ PAMM_HTTP_PORT: "0", SIM_PORT: "0", SIM_CONTROL_PORT: "0" });

  expect(await second.ended).toBe(1);
  expect(second.output()).toBe(
    `make run: ${workspace.stateDir} is in use by process ${launcher.child.pid}: stop it (make stop), or set PAMM_STATE_DIR to another folder\n`,
  );
  expect(launcher.child.exitCode).toBeNull();

  const before = workspace.pidOf("funding")!;
  process.kill(before, "SIGKILL");
  await launcher.prints("funding runs again");

  expect(launcher.output()).toContain("funding ended (SIGKILL); restarting now");
  expect(workspace.pidOf("funding")).not.toBe(before);
});

test("with NATS_SETUP_URL the streams of a broker that the environment names are set up before the services start", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nats-"));
  await using broker = await startNats({ dir: folder.path, password: "secret" });
  const workspace = await createTestWorkspace();
  const launcher = workspace.start({ ...EXTERNAL, NATS_URL: broker.url, NATS_SETUP_URL: broker.url });
  await launcher.ready();

  const done = await setUpAllStreams({ url: broker.url, replicas: 1 });
  expect(done.filter((line) => !line.endsWith(": nothing to do"))).toEqual([]);
});

test("a start right after all processes were killed succeeds, also while the killed simulator is a zombie", async () => {
  const workspace = await createTestWorkspace(["simulator"]);
  const first = workspace.start({ ...EXTERNAL, MT5_URL: "" });
  await first.ready();

  const all = [first.child.pid!, ...EVERYTHING.map((name) => workspace.pidOf(name)!)];
  for (const pid of all) process.kill(pid, "SIGKILL");
  await expect(workspace.start({ ...EXTERNAL, MT5_URL: "" }).ready()).resolves.toBeUndefined();
});

test("the next start ends the processes that a killed launcher left behind", async () => {
  const workspace = await createTestWorkspace();
  const first = workspace.start({ ...EXTERNAL, MT5_URL: "", EXIT_DELAY_MS: "60000" });
  await first.ready();

  first.child.kill("SIGKILL");
  const second = workspace.start({ ...EXTERNAL, MT5_URL: "" });
  await second.ready();

  expect(second.output()).toContain("edge of an earlier run still runs");
});

test("all ports in use are reported together, before any process is started", async () => {
  const workspace = await createTestWorkspace();
  for (const port of [workspace.env["PAMM_HTTP_PORT"], workspace.env["SIM_PORT"]]) {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(Number(port), "127.0.0.1", resolve));
    onTestFinished(() => void holder.close());
  }

  const launcher = workspace.start();

  expect(await launcher.ended).toBe(1);
  expect(launcher.output().trim().split("\n")).toEqual([
    expect.stringMatching(/^make run: port \d+ on 127.0.0.1 is taken: set PAMM_HTTP_PORT/),
    expect.stringMatching(/^make run: port \d+ on 127.0.0.1 is taken: set SIM_PORT/),
  ]);
});

test("a service that cannot start ends the launcher with its reason", async () => {
  const workspace = await createTestWorkspace();

  const launcher = workspace.start({ ...EXTERNAL, FAILING: "platform" });

  expect(await launcher.ended).toBe(1);
  expect(launcher.output()).toContain("platform cannot start: FAILING names it");
  expect(launcher.output()).toContain("make run: platform did not start: exit code 1");
  expect(EVERYTHING.filter((name) => workspace.pidOf(name) !== undefined)).toEqual([]);
});

test("Ctrl-C during the start stops the processes that have started", async () => {
  const workspace = await createTestWorkspace();
  const launcher = workspace.start({ ...EXTERNAL, MT5_URL: "" });
  await until(() => workspace.pidOf("simulator") !== undefined);

  process.kill(-launcher.child.pid!, "SIGINT");

  expect(await launcher.ended).toBe(0);
  expect(EVERYTHING.filter((name) => workspace.pidOf(name) !== undefined)).toEqual([]);
});

test("a server that the environment names is not started, and the environment sets the length of fee weeks", async () => {
  const workspace = await createTestWorkspace();
  const settings = { ...EXTERNAL, PAMM_FEE_PERIOD: "PT90S" };

  const launcher = workspace.start(settings);
  await launcher.ready();

  expect(workspace.pidOf("simulator")).toBeUndefined();
  expect(await environmentOf(workspace.env["PAMM_HTTP_PORT"])).toMatchObject(settings);
  expect(launcher.output()).toContain("fee weeks   90 seconds each, counted from 2025-01-04T00:00:00.000Z");
  const system = JSON.parse(readFileSync(join(workspace.stateDir, "run/system.json"), "utf8")) as unknown;
  expect(system).toMatchObject({ feePeriodMs: 90_000, feeAnchor: "2025-01-04T00:00:00.000Z" });
});

test("an invalid fee week is refused before any process is started", async () => {
  const workspace = await createTestWorkspace();

  const launcher = workspace.start({ ...EXTERNAL, PAMM_FEE_PERIOD: "7 days", PAMM_FEE_ANCHOR: "Saturday" });

  expect(await launcher.ended).toBe(1);
  expect(launcher.output()).toMatch(/make run: PAMM_FEE_PERIOD.*\nmake run: PAMM_FEE_ANCHOR/);
});
