import { execFile } from "node:child_process";
import process from "node:process";
import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { startMetrics } from "#kernel/process/metrics.ts";
import { serveHealth } from "../../services/edge/http/readiness.ts";
import { startSimulator } from "../../services/simulator/start.ts";
import { freePort } from "../local/ports.ts";
import { container, readComposeFile } from "./testing/compose-file.ts";
import { type Program, PROGRAMS } from "./testing/programs.ts";

const compose = readComposeFile();

function healthCheckOf(program: Program): { command: readonly string[]; port: string; path: string } {
  const [kind, ...words] = container(compose, program).healthcheck?.test ?? [];
  const [port = "", path = ""] = words.slice(-2);
  return { command: [kind ?? "", ...words.slice(0, -2)], port, path };
}

/** The exit code of the health check against a server on another port. */
function probe(port: number, path: string): Promise<unknown> {
  return new Promise((resolve) => {
    execFile(process.execPath, ["deploy/compose/probe.mjs", String(port), path], (error) => resolve(error?.code ?? 0));
  });
}

async function readyService(isReady: boolean): Promise<number> {
  const server = await startMetrics({ port: 0, findMissing: async () => (isReady ? [] : ["database"]) });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server.port;
}

async function readyEdge(): Promise<number> {
  const app = Fastify();
  const reached = { reachable: true, lag_ms: 1 };
  const report = { broker: { reachable: true }, services: {}, platform: reached, lag_ms: 1 };
  serveHealth(app, { read: async () => ({ isReady: true, report: { status: "ready", ...report } }) });
  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => app.close());
  return Number(new URL(address).port);
}

test("every program has the same probe, on a port that it listens on", () => {
  for (const program of PROGRAMS) {
    const { command, port } = healthCheckOf(program);
    const { environment = {} } = container(compose, program);
    expect([program, command]).toEqual([program, ["CMD", "node", "deploy/compose/probe.mjs"]]);
    const variable =
      { edge: "PAMM_HTTP_PORT", simulator: "SIM_CONTROL_PORT" }[program as string] ?? "PAMM_METRICS_PORT";
    expect([program, environment[variable]]).toEqual([program, port]);
  }
});

test("health checks request existing routes", async () => {
  await using simulator = await startSimulator();
  const ports: Partial<Record<Program, number>> = { edge: await readyEdge(), simulator: simulator.controlPort };
  const other = await readyService(true);
  const answers = PROGRAMS.map(async (program) => [
    program,
    await probe(ports[program] ?? other, healthCheckOf(program).path),
  ]);
  expect(await Promise.all(answers)).toEqual(PROGRAMS.map((program) => [program, 0]));
});

test("a program that is not ready, has no such route or does not run is not healthy", async () => {
  const unready = await readyService(false);
  expect(await probe(unready, "/readyz")).toBe(1);
  expect(await probe(await readyService(true), "/nothing")).toBe(1);
  expect(await probe(await freePort(), "/readyz")).toBe(1);
});
