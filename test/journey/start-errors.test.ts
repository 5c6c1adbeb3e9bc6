import { expect, test, vi } from "vitest";
import { failedStart } from "./support/system.ts";

vi.setConfig({ testTimeout: 120_000 });

/**
 * One line with the cause and the next step, no stack, no secret, and exit code 1. What the line says of the streams and of the trading
 * platform is in the tests of kernel/nats and of platform.
 */
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

test.concurrent("a production start with a configuration for trying out is refused with every reason", async () => {
  const settings = { PAMM_ENVIRONMENT: "production", PAMM_REHEARSAL: "true" };
  await expectRefused(
    settings,
    /cannot start: PAMM_REHEARSAL is true: remove it\n(.*\n)*.*_DATABASE_URL is not encrypted, or its server is not verified/,
  );
});
