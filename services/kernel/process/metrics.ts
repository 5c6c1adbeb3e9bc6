import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { collectDefaultMetrics, Counter, Histogram, register } from "prom-client";
import { answerWithin } from "../jobs/answer-within.ts";
import { listen } from "./startup-error.ts";

export type Transport = "nats" | "grpc";

const requestSeconds = new Histogram({
  name: "pamm_request_duration_seconds",
  help: "Time to answer a call, by transport, method and outcome (ok or the code of the refusal).",
  labelNames: ["transport", "method", "outcome"],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

export function observeRequest(
  labels: { transport: Transport; method: string; outcome: string },
  elapsedMs: number,
): void {
  requestSeconds.observe(labels, elapsedMs / 1_000);
}

const callsRefused = new Counter({
  name: "pamm_calls_refused_total",
  help: "Calls from services that may not use the method, or not for what they request, by method.",
  labelNames: ["method"],
});

export function countRefusedCall(method: string): void {
  callsRefused.inc({ method });
}

export type MetricsOptions = {
  readonly host?: string;
  /** 0 = any free port. */
  readonly port: number;
  /** What keeps the service from its work now, in one word each; no answer within READY_TIMEOUT_MS is one of them. */
  readonly findMissing?: () => Promise<readonly string[]>;
};

export type MetricsServer = AsyncDisposable & { readonly port: number };

/** A check of readiness asks for nothing that takes long, so a slower one counts as failed. */
const READY_TIMEOUT_MS = 2_000;
/** The delay of the event loop is sampled this often: each sample wakes the process, and the default of 10 ms costs 0.6 % of a core. */
const EVENT_LOOP_SAMPLE_MS = 100;
let collectsDefaults = false;

/** Serves `/metrics` for Prometheus, `/healthz` (the process runs) and `/readyz` (the service can do its work). */
export async function startMetrics({ host = "127.0.0.1", port, findMissing }: MetricsOptions): Promise<MetricsServer> {
  if (!collectsDefaults) collectDefaultMetrics({ eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  collectsDefaults = true;
  const server = createServer((request, response) => {
    answer(request, response, findMissing ?? (async () => [])).catch(() => response.destroy());
  });
  return {
    port: await listen(server, "metrics (PAMM_METRICS_PORT)", host, port),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  findMissing: () => Promise<readonly string[]>,
): Promise<void> {
  const path = (request.url ?? "/").split("?")[0];
  if (path === "/metrics") return send(response, 200, await register.metrics(), register.contentType);
  if (path === "/healthz") return send(response, 200, "ok\n");
  if (path !== "/readyz") return send(response, 404, "not found\n");
  const found = findMissing().catch(() => ["failed check"]);
  const missing = await answerWithin(found, READY_TIMEOUT_MS, ["no answer in time"]);
  return missing.length === 0
    ? send(response, 200, "ready\n")
    : send(response, 503, `not ready: ${missing.join(", ")}\n`);
}

function send(response: ServerResponse, status: number, body: string, type = "text/plain; charset=utf-8"): void {
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(body);
}
