import { spawnSync } from "node:child_process";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { traceCollector } from "#test/support/trace-collector.ts";
import { batchQueue } from "../batches/batch-queue.ts";
import { createLog } from "../process/log.ts";
import { Refusal } from "../values/refusal.ts";
import { Secret } from "../values/secret.ts";
import { answer, call, COMMAND_ID, request, silent as log } from "../testing/calls.ts";
import { serving as servingGrpc } from "../testing/grpc-serving.ts";
import { serving as servingNats } from "../testing/nats-serving.ts";
import type { TracingSettings } from "./settings.ts";
import { inPlace, NO_SPAN, startSpan, tracePlace } from "./span.ts";
import { startTracing } from "./start.ts";

function start(url: string | undefined, own: Partial<TracingSettings> = {}) {
  const settings: TracingSettings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: undefined,
    OTEL_TRACES_SAMPLER: "parentbased_always_on",
    OTEL_TRACES_SAMPLER_ARG: 1,
    ...own,
  };
  return startTracing({ service: "test", version: "1.2.3", settings, log });
}

const begin = (name: string) => startSpan(name, { kind: "server", mayBegin: true });

test.each([
  ["nats", servingNats],
  ["grpc", servingGrpc],
] as const)(
  "a call over %s is in the trace of its caller, with a span of the client and one of the service",
  async (transport, serving) => {
    await using collector = await traceCollector();
    {
      await using _tracing = await start(collector.url, {
        OTEL_EXPORTER_OTLP_HEADERS: new Secret("authorization=Bearer%20abc,x-tenant=pamm"),
      });
      await using setup = await serving((message, context) =>
        message.afterId === 2n ? Promise.reject(busy()) : answer(message, context),
      );
      // Without a caller in a trace there is none.
      await setup.client.read(request, call());
      const span = begin("POST /deposit");
      const asCommand = call({ commandId: COMMAND_ID, requestId: "r1" });
      await span.run(() => setup.client.read(request, asCommand));
      await expect(span.run(() => setup.client.read({ ...request, afterId: 2n }, call()))).rejects.toThrow();
      span.end("ok");
    }

    const name = "pamm.common.v1.FeedService/Read";
    const root = collector.spans.find((span) => span.name === "POST /deposit");
    const clients = collector.spans.filter(({ kind }) => kind === 3);
    const servers = collector.spans.filter((span) => span.kind === 2 && span !== root);
    expect(collector.spans).toHaveLength(5);
    expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([root?.traceId]));
    expect(clients.map((span) => [span.name, span.parentSpanId])).toEqual([
      [name, root?.spanId],
      [name, root?.spanId],
    ]);
    for (const client of clients) {
      const server = servers.find(({ parentSpanId }) => parentSpanId === client.spanId);
      expect(server).toMatchObject({ name, service: "test", hasFailed: client.hasFailed });
      expect(server?.attributes["pamm.outcome"]).toBe(client.attributes["pamm.outcome"]);
    }
    const [done] = servers.filter(({ attributes }) => attributes["pamm.outcome"] === "ok");
    expect(done?.attributes).toMatchObject({
      "rpc.system": transport,
      "pamm.request_id": "r1",
      "pamm.operation_id": COMMAND_ID,
      "pamm.caller": transport === "nats" ? "edge" : "funding",
    });
    expect(servers.map(({ attributes, hasFailed }) => [attributes["pamm.outcome"], hasFailed])).toContainEqual([
      "busy",
      true,
    ]);
    expect(collector.headers[0]).toMatchObject({ authorization: "Bearer abc", "x-tenant": "pamm" });
  },
);

function busy(): Refusal {
  return new Refusal({ code: "busy", status: "busy", message: "too many" });
}

test("the work of a batch is in no trace, and each item is continued in its own", async () => {
  await using collector = await traceCollector();
  {
    await using _tracing = await start(collector.url);
    const queue = batchQueue<{ place: ReturnType<typeof tracePlace>; name: string }, object>({
      name: "of the test",
      maxItems: 10,
      maxWaiting: 10,
      run: async (items) => {
        startSpan("shared", { kind: "client" }).end("ok");
        for (const { place, name } of items) inPlace(place, () => startSpan(name, { kind: "client" }).end("ok"));
        return items.map(() => ({}));
      },
    });
    await Promise.all(
      ["a", "b"].map(async (name) => {
        const span = begin(`root ${name}`);
        await span.run(() => queue.add({ place: tracePlace(), name }));
        span.end("ok");
      }),
    );
  }

  const named = (name: string) => collector.spans.find((span) => span.name === name);
  expect(named("shared")).toBeUndefined();
  expect(named("a")?.parentSpanId).toBe(named("root a")?.spanId);
  expect(named("b")?.parentSpanId).toBe(named("root b")?.spanId);
});

test("a sampler keeps its share of the traces, and a trace is kept as a whole", async () => {
  await using collector = await traceCollector();
  {
    await using _tracing = await start(collector.url, {
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: 0.5,
    });
    for (let index = 0; index < 200; index += 1) {
      const root = begin("root");
      root.run(() => startSpan("child", { kind: "client" }).end("ok"));
      root.end("ok");
    }
  }

  const roots = collector.spans.filter(({ name }) => name === "root");
  expect(roots.length).toBeGreaterThan(50);
  expect(roots.length).toBeLessThan(150);
  expect(collector.spans).toHaveLength(roots.length * 2);
});

test("a collector that refuses is logged once, and again when it answers", async () => {
  let status = 400;
  let requests = 0;
  const messages: string[] = [];
  const own = createLog({
    service: "test",
    level: "info",
    to: { write: (text) => messages.push((JSON.parse(text) as { msg: string }).msg) },
  });
  const server = createHttpServer((sent, response) => {
    requests += 1;
    sent.resume().on("end", () => response.writeHead(status).end("{}"));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const settings: TracingSettings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_EXPORTER_OTLP_HEADERS: undefined,
    OTEL_TRACES_SAMPLER: "always_on",
    OTEL_TRACES_SAMPLER_ARG: 1,
  };
  {
    await using _tracing = await startTracing({ service: "test", version: "1", settings, log: own });
    begin("a").end("ok");
    await expect.poll(() => requests).toBe(1);
    begin("b").end("ok");
    await expect.poll(() => requests).toBe(2);
    status = 200;
    begin("c").end("ok");
  }

  expect(requests).toBe(3);
  expect(messages).toEqual([
    "traces not exported, they are dropped until the collector answers",
    "traces exported again",
  ]);
  server.close();
});

test("a collector that does not answer holds up no work, and the stop waits for at most two seconds", async () => {
  const server = createServer(() => undefined).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const tracing = await start(`http://127.0.0.1:${port}`);
  for (let index = 0; index < 10_000; index += 1) begin("POST /deposit").end("ok");

  const stoppedMs = performance.now();
  await tracing?.[Symbol.asyncDispose]();
  expect(performance.now() - stoppedMs).toBeLessThan(9_000);
  server.close();
});

test("without an endpoint there is no span, and the SDK is not loaded", async () => {
  expect(await start(undefined)).toBeUndefined();
  expect(begin("POST /deposit")).toBe(NO_SPAN);

  expect(loadsSdk("")).toBe("false");
  expect(loadsSdk("http://127.0.0.1:1")).toBe("true");
});

/** Whether a process with this endpoint loads the SDK. */
function loadsSdk(endpoint: string): string {
  const script = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ resolve: (name, context, next) => (loaded.push(name), next(name, context)) });
    const { startTracing } = await import(${JSON.stringify(join(import.meta.dirname, "start.ts"))});
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: ${JSON.stringify(endpoint)} || undefined, OTEL_TRACES_SAMPLER: "always_on" };
    await startTracing({ service: "test", version: "1", settings, log: {} });
    console.log(loaded.includes("@opentelemetry/sdk-trace"));
    process.exit(0);
  `;
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    encoding: "utf8",
  });
  expect(status, stderr).toBe(0);
  return stdout.trim();
}
