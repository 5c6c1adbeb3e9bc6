import { expect, test } from "vitest";
import { observeRequest, startMetrics } from "./metrics.ts";

async function get(port: number, path: string): Promise<{ status: number; body: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, body: await response.text() };
}

test("requests are counted by method and outcome", async () => {
  await using server = await startMetrics({ port: 0 });
  observeRequest({ transport: "nats", method: "/a.B/C", outcome: "busy" }, 3);

  const { status, body } = await get(server.port, "/metrics");

  expect(status).toBe(200);
  expect(body).toContain('pamm_request_duration_seconds_count{transport="nats",method="/a.B/C",outcome="busy"} 1');
  expect(body).toContain("process_cpu_seconds_total");
});

test("a running process is healthy, and ready when its check passes", async () => {
  let missing = ["database", "broker"];
  await using server = await startMetrics({ port: 0, findMissing: async () => missing });

  expect(await get(server.port, "/healthz")).toEqual({ status: 200, body: "ok\n" });
  expect(await get(server.port, "/readyz")).toEqual({ status: 503, body: "not ready: database, broker\n" });
  missing = [];
  expect(await get(server.port, "/readyz")).toEqual({ status: 200, body: "ready\n" });
  expect((await get(server.port, "/other")).status).toBe(404);
});

test("a readiness check that fails or hangs means not ready, within its timeout", async () => {
  await using failing = await startMetrics({ port: 0, findMissing: () => Promise.reject(new Error("no database")) });
  await using hanging = await startMetrics({ port: 0, findMissing: () => new Promise(() => {}) });

  expect((await get(failing.port, "/readyz")).status).toBe(503);
  expect((await get(hanging.port, "/readyz")).status).toBe(503);
});
