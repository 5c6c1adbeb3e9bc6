import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { provideNatsServer, startNats } from "../../deploy/local/nats.ts";
import { freePort } from "../../deploy/local/ports.ts";
import { testSimulator } from "../support/simulator.ts";
import { run } from "./support/running.ts";
import { failedStart } from "./support/system.ts";

vi.setConfig({ testTimeout: 120_000 });

/** One line with the cause and the next step, no stack, no secret, and exit code 1. */
async function expectRefused(settings: NodeJS.ProcessEnv, line: RegExp): Promise<void> {
  const { code, output } = await failedStart(settings);
  expect(output).toMatch(line);
  expect(output).not.toMatch(/^\s+at /m);
  expect(output).not.toContain("secret-of-the-operator");
  expect(code).toBe(1);
}

test.concurrent("a start with an unreachable database is refused and names its address", async () => {
  const url = "postgres://pamm:secret-of-the-operator@127.0.0.1:1/pamm";
  await expectRefused({ DATABASE_URL: url }, /cannot start: .*database.*127\.0\.0\.1:1/i);
});

test.concurrent("a start with an unreachable broker is refused and names its address and setting", async () => {
  await expectRefused({ NATS_URL: "nats://127.0.0.1:1" }, /cannot start: .*127\.0\.0\.1:1.*NATS_URL/i);
});

test.concurrent("a start with a broker without JetStream is refused and names the option", async ({
  onTestFinished,
}) => {
  const { path } = await provideNatsServer();
  const port = await freePort();
  const broker = run([path, "-a", "127.0.0.1", "-p", String(port)], {});
  onTestFinished(async () => {
    broker.signal("SIGTERM");
    await broker.ended;
  });
  await broker.waitFor("Server is ready");

  await expectRefused({ NATS_URL: `nats://127.0.0.1:${port}` }, /cannot start: .*JetStream.*-js/);
});

test.concurrent("a start with a broker without the streams is refused and names the command that sets them up", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "pamm-journey-"));
  await using broker = await startNats({ dir: folder.path, password: "secret-of-the-operator" });

  await expectRefused(
    { NATS_URL: broker.url },
    /cannot start: .*stream PLATFORM_MOVEMENTS does not exist; run node deploy\/nats\/set-up-streams\.ts with NATS_SETUP_URL/,
  );
});

test.concurrent("a start with a wrong manager password is refused and names the settings to check", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "pamm-journey-"));
  await using simulator = await testSimulator({ stateDir: folder.path });
  const settings = {
    MT5_URL: simulator.url,
    MT5_CA_FILE: simulator.caFile,
    MT5_LOGIN: String(simulator.managerLogin),
    MT5_PASSWORD: "secret-of-the-operator",
    MT5_TIME_ZONE: "Europe/Athens",
  };

  await expectRefused(settings, /cannot start: no session with .*check MT5_LOGIN and MT5_PASSWORD/);
});

test.concurrent("a start with a trading platform whose name does not exist is refused and names its address and setting", async () => {
  const settings = {
    MT5_URL: "https://mt5.invalid:1",
    MT5_LOGIN: "1000",
    MT5_PASSWORD: "secret-of-the-operator",
    MT5_TIME_ZONE: "UTC",
  };
  await expectRefused(settings, /cannot start: .*mt5\.invalid:1.*check MT5_URL/);
});

test.concurrent("a production start with a configuration for trying out is refused with every reason", async () => {
  const settings = { PAMM_ENVIRONMENT: "production", PAMM_REHEARSAL: "true" };
  await expectRefused(
    settings,
    /cannot start: PAMM_REHEARSAL is true: remove it\n(.*\n)*.*_DATABASE_URL is not encrypted, or its server is not verified/,
  );
});
