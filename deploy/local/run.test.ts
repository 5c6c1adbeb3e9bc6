import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { expect, onTestFinished, test, vi } from "vitest";
import { startOf } from "./process-id.ts";
import { SERVICES } from "./settings.ts";
import { testHouse, until } from "./test-house.ts";

// Each starts up to nineteen processes.
vi.setConfig({ testTimeout: 60_000 });

const EVERYTHING = [...SERVICES, "simulator"];

/** Saves the start of stores and simulator where they do not matter. */
const GIVEN = {
  DATABASE_URL: "postgres://somebody@127.0.0.1:1/pamm",
  NATS_URL: "nats://127.0.0.1:1",
  MT5_URL: "https://127.0.0.1:1",
};

const environmentOf = async (port: string | undefined): Promise<NodeJS.ProcessEnv> =>
  (await (await fetch(`http://127.0.0.1:${port}/`)).json()) as NodeJS.ProcessEnv;

test("Ctrl-C in the terminal stops everything in order, and the next start finds the same keys", async () => {
  const house = await testHouse();
  const first = house.start();
  await first.ready();
  const keys = readFileSync(join(house.stateDir, "secret/api-key"), "utf8");
  expect(first.said()).toContain(keys.trim());
  await first.hears("funding      warn: mind the gap code=funding");
  expect(first.said()).not.toContain("not for the terminal");

  // To the whole group, as a terminal does.
  process.kill(-first.child.pid!, "SIGINT");
  expect(await first.ended).toBe(0);

  const stopped = house.stopped();
  expect(stopped[0]).toBe("edge");
  expect(stopped.slice(1, 5).toSorted()).toEqual(["account", "fee", "funding", "subscription"]);
  expect(stopped.slice(5)).toEqual(["platform", "simulator"]);
  const second = house.start();
  await second.ready();
  expect(readFileSync(join(house.stateDir, "secret/api-key"), "utf8")).toBe(keys);
  expect(statSync(join(house.stateDir, "secret/encryption-key")).mode & 0o777).toBe(0o600);
});

test("a service that is killed is started again at once, and said aloud", async () => {
  const house = await testHouse();
  const launcher = house.start(GIVEN);
  await launcher.ready();
  const before = house.pidOf("funding")!;

  process.kill(before, "SIGKILL");
  await launcher.hears("funding runs again");

  expect(launcher.said()).toContain("funding ended (SIGKILL); starting it again now");
  expect(house.pidOf("funding")).not.toBe(before);
});

test("the stores are started again too, where they were", async () => {
  const house = await testHouse();
  const launcher = house.start();
  await launcher.ready();
  const postmaster = Number.parseInt(readFileSync(join(house.stateDir, "postgres/postmaster.pid"), "utf8"), 10);
  const broker = Number.parseInt(readFileSync(join(house.stateDir, "nats/nats-server.pid"), "utf8"), 10);

  process.kill(postmaster, "SIGKILL");
  process.kill(broker, "SIGKILL");

  await launcher.hears("postgres runs again");
  await launcher.hears("nats runs again");
});

test("when the launcher is killed everything ends, and the next start works", async () => {
  const house = await testHouse();
  const first = house.start();
  await first.ready();
  const pids = EVERYTHING.map((name) => house.pidOf(name)!);
  const postmaster = Number.parseInt(readFileSync(join(house.stateDir, "postgres/postmaster.pid"), "utf8"), 10);

  first.child.kill("SIGKILL");
  const second = house.start();
  await second.ready();

  expect([...pids, postmaster].filter((pid) => startOf(pid) !== "")).toEqual([]);
});

test("what a killed launcher left behind holds its ports no longer than the next start waits", async () => {
  const house = await testHouse();
  const first = house.start({ ...GIVEN, MT5_URL: "", LINGERS_MS: "60000" });
  await first.ready();

  first.child.kill("SIGKILL");
  const second = house.start({ ...GIVEN, MT5_URL: "" });
  await second.ready();

  expect(second.said()).toContain("edge of an earlier run is still there");
});

test("everything killed at once comes back", async () => {
  const house = await testHouse();
  const first = house.start();
  await first.ready();
  const postmaster = Number.parseInt(readFileSync(join(house.stateDir, "postgres/postmaster.pid"), "utf8"), 10);

  for (const pid of [first.child.pid!, postmaster, ...EVERYTHING.map((name) => house.pidOf(name)!)]) {
    process.kill(pid, "SIGKILL");
  }
  await house.start().ready();
});

test("a second launcher on the same state is refused in one line, and the first goes on", async () => {
  const house = await testHouse();
  const first = house.start(GIVEN);
  await first.ready();

  const second = house.start({ PAMM_HTTP_PORT: "0", SIM_PORT: "0", SIM_CONTROL_PORT: "0" });

  expect(await second.ended).toBe(1);
  expect(second.said()).toBe(
    `make run: ${house.stateDir} is in use by process ${first.child.pid}: stop it (make stop), or set PAMM_STATE_DIR to another folder\n`,
  );
  expect(first.child.exitCode).toBeNull();
});

test("two launchers with different states run side by side", async () => {
  const first = (await testHouse()).start();
  await first.ready();
  // Its ports are chosen now, so that they are none of the first one's.
  const second = (await testHouse()).start();
  await second.ready();

  expect([first.child.exitCode, second.child.exitCode]).toEqual([null, null]);
});

test("every port that is taken is named at once, before anything is started", async () => {
  const house = await testHouse();
  for (const port of [house.env["PAMM_HTTP_PORT"], house.env["SIM_PORT"]]) {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(Number(port), "127.0.0.1", resolve));
    onTestFinished(() => void holder.close());
  }

  const launcher = house.start();

  expect(await launcher.ended).toBe(1);
  expect(launcher.said().trim().split("\n")).toEqual([
    expect.stringMatching(/^make run: port \d+ on 127.0.0.1 is taken: set PAMM_HTTP_PORT/),
    expect.stringMatching(/^make run: port \d+ on 127.0.0.1 is taken: set SIM_PORT/),
  ]);
});

test("a service that judges that it cannot start ends the whole start, with its reason", async () => {
  const house = await testHouse();

  const launcher = house.start({ ...GIVEN, FAILING: "platform" });

  expect(await launcher.ended).toBe(1);
  expect(launcher.said()).toContain("platform cannot start: it has no wish to");
  expect(launcher.said()).toContain("make run: platform did not start: exit code 1");
  expect(EVERYTHING.filter((name) => house.pidOf(name) !== undefined)).toEqual([]);
});

test("Ctrl-C during the start stops what has begun", async () => {
  const house = await testHouse();
  const launcher = house.start();
  await until(() => house.pidOf("simulator") !== undefined);

  process.kill(-launcher.child.pid!, "SIGINT");

  expect(await launcher.ended).toBe(0);
  expect(EVERYTHING.filter((name) => house.pidOf(name) !== undefined)).toEqual([]);
});

test("each service is given its own secrets and nobody else's", async () => {
  const house = await testHouse();
  const launcher = house.start();
  await launcher.ready();

  const edge = await environmentOf(house.env["PAMM_HTTP_PORT"]);
  const simulator = await environmentOf(house.env["SIM_CONTROL_PORT"]);

  expect(edge).toMatchObject({ EDGE_DATABASE_URL: expect.stringContaining("pamm_edge"), PAMM_HTTP_HOST: "127.0.0.1" });
  expect(edge["FUNDING_DATABASE_URL"]).toBeUndefined();
  expect(edge["MT5_PASSWORD"]).toBeUndefined();
  expect(simulator["PAMM_ENCRYPTION_KEY"]).toBeUndefined();
  expect(simulator).toMatchObject({ SIM_IDLE_CLOSE: "PT10S", PAMM_STATE_DIR: house.stateDir });
});

test("what the environment names is not started here", async () => {
  const house = await testHouse();

  const launcher = house.start(GIVEN);
  await launcher.ready();

  expect(house.pidOf("simulator")).toBeUndefined();
  expect(await environmentOf(house.env["PAMM_HTTP_PORT"])).toMatchObject(GIVEN);
});

test("the length of a fee week is said on the terminal and told to others", async () => {
  const house = await testHouse();

  const launcher = house.start({ ...GIVEN, PAMM_FEE_PERIOD: "PT90S" });
  await launcher.ready();

  expect(launcher.said()).toContain("fee weeks   90 seconds each, counted from 2025-01-04T00:00:00.000Z");
  const told = JSON.parse(readFileSync(join(house.stateDir, "run/system.json"), "utf8")) as unknown;
  expect(told).toMatchObject({ feePeriodMs: 90_000, feeAnchor: "2025-01-04T00:00:00.000Z" });
});

test("a fee week that is none is refused before anything is started", async () => {
  const house = await testHouse();

  const launcher = house.start({ ...GIVEN, PAMM_FEE_PERIOD: "7 days", PAMM_FEE_ANCHOR: "Saturday" });

  expect(await launcher.ended).toBe(1);
  expect(launcher.said()).toMatch(/make run: PAMM_FEE_PERIOD.*\nmake run: PAMM_FEE_ANCHOR/);
});
