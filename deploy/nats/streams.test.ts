import { execFile } from "node:child_process";
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startNats } from "../local/nats.ts";
import { freePort } from "../local/ports.ts";
import { setUpAllStreams } from "./streams.ts";

const PROGRAM = join(import.meta.dirname, "set-up-streams.ts");
const DONE = ["stream PLATFORM_MOVEMENTS", "consumer subscription of PLATFORM_MOVEMENTS", "stream SUBSCRIPTION_EVENTS"];

async function run(env: NodeJS.ProcessEnv): Promise<{ code: number; stdout: string; stderr: string }> {
  const { NATS_SETUP_URL: _, ...own } = process.env;
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, [PROGRAM], { env: { ...own, ...env } })) };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

test("the set-up creates the streams and consumers of the services, and the next one finds nothing to do", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nats-"));
  await using server = await startNats({ dir: folder.path, password: "secret", passwordOf: (service) => service });

  const first = await run({ NATS_SETUP_URL: server.url });
  expect(first).toMatchObject({
    code: 0,
    stdout: `set-up-streams: ${DONE.map((what) => `${what}: created`).join("; ")}\n`,
  });
  const second = await run({ NATS_SETUP_URL: server.url });
  expect(second.stdout).toBe(`set-up-streams: ${DONE.map((what) => `${what}: nothing to do`).join("; ")}\n`);

  const third = await run({ NATS_SETUP_URL: server.url, NATS_STREAM_REPLICAS: "3" });
  const changed = [`${DONE[0]}: changed`, `${DONE[1]}: nothing to do`, `${DONE[2]}: changed`];
  expect(third.stdout).toBe(`set-up-streams: ${changed.join("; ")}\n`);
});

test("the set-up needs an address of its own, and a user who may change streams", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nats-"));
  await using server = await startNats({ dir: folder.path, password: "secret", passwordOf: (service) => service });

  const without = await run({ NATS_URL: server.url });
  expect([without.code, without.stderr]).toEqual([1, expect.stringContaining("NATS_SETUP_URL is missing")]);
  const url = `nats://platform:platform@127.0.0.1:${server.port}`;
  await expect(setUpAllStreams({ url, replicas: 1 })).rejects.toThrow(/Permissions Violation/);
  // Nothing was created.
  expect(await setUpAllStreams({ url: server.url, replicas: 1 })).toEqual(DONE.map((what) => `${what}: created`));
});

test("a single server refuses to keep three copies, and the set-up says so without the password", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nats-"));
  await using server = await startNats({ dir: folder.path, password: "hidden" });

  const { code, stderr } = await run({ NATS_SETUP_URL: server.url, NATS_STREAM_REPLICAS: "3" });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^set-up-streams failed: streams of NATS at nats:.*replicas > 1 not supported/);
  expect(stderr).not.toContain("hidden");
});

test("the set-up waits for a broker that is being started", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nats-"));
  const port = await freePort();
  const settingUp = setUpAllStreams({ url: `nats://127.0.0.1:${port}`, replicas: 1, withinMs: 20_000 });

  await using _server = await startNats({ dir: folder.path, port });

  expect(await settingUp).toEqual(DONE.map((what) => `${what}: created`));
});
