import { expect, test } from "vitest";
import { metricValues } from "#test/support/metric-values.ts";
import { type ReceivedSpan, traceCollector } from "#test/support/trace-collector.ts";
import { createLog } from "../log.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { execute, fragment, sql } from "../postgres/query.ts";
import { runJob } from "../job.ts";
import { Refusal } from "../refusal.ts";
import { answer, call, COMMAND_ID, request, silent as log } from "../testing/calls.ts";
import { kernelDatabase } from "../testing/database.ts";
import { cents, FEED } from "../testing/feed.ts";
import { serving } from "../testing/grpc-serving.ts";
import { workQueue } from "../work-queue/work-queue.ts";
import { publish } from "../feed/publish.ts";
import { Money } from "#proto/pamm/common/v1/money.ts";
import { currentTraceId, inJobSpan, noteWork, startSpan, tracePlace } from "./span.ts";
import { startTracing } from "./start.ts";

const SETTINGS = { OTEL_TRACES_SAMPLER: "parentbased_always_on", OTEL_TRACES_SAMPLER_ARG: 1 } as const;
const start = (url: string | undefined) =>
  startTracing({ service: "test", version: "1", settings: { ...SETTINGS, OTEL_EXPORTER_OTLP_ENDPOINT: url }, log });
const outcomeOf = () => ({ outcome: "failed", hasFailed: true });

/** One run of a job that does this, with the spans that it has left. */
async function spansOfRun(work: () => Promise<boolean>): Promise<readonly ReceivedSpan[]> {
  await using collector = await traceCollector();
  {
    await using _tracing = await start(collector.url);
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    await using _job = runJob({ name: "count", everyMs: 60_000, log, work: () => work().finally(resolve) });
    await ended;
  }
  return collector.spans;
}

test("a run that only reads has no span, also when it reads from another service", async () => {
  await using setup = await serving(answer);
  expect(await spansOfRun(async () => (await setup.client.read(request, call())).lastNumber === 0n)).toEqual([]);
});

test("a run that sends a command is the first span of a trace, with what follows", async () => {
  await using setup = await serving(answer);
  const spans = await spansOfRun(async () => {
    await setup.client.read(request, call());
    await setup.client.read(request, call({ commandId: COMMAND_ID }));
    await setup.client.read(request, call());
    return false;
  });
  const [root, ...others] = spans.toSorted((a, b) => a.parentSpanId.length - b.parentSpanId.length);
  expect(root).toMatchObject({ name: "job count", parentSpanId: "", kind: 1, hasFailed: false });
  expect(root?.attributes).toMatchObject({ "pamm.job": "count", "pamm.outcome": "ok" });
  // Of each of two calls, the caller and the callee; not of the one before there was work.
  expect(others.map(({ kind }) => kind).toSorted()).toEqual([2, 2, 3, 3]);
  expect(new Set(others.map(({ traceId }) => traceId))).toEqual(new Set([root?.traceId]));
  const callers = others.filter(({ kind }) => kind === 3);
  expect(callers.map(({ parentSpanId }) => parentSpanId)).toEqual([root?.spanId, root?.spanId]);
});

test("claimed rows and published events are work, and an empty claim is none", async () => {
  const { pool } = await kernelDatabase();
  await pool.query(
    "create table item (id bigint primary key, next_try_at timestamptz default now(), tries int default 0)",
  );
  const queue = workQueue({
    table: fragment`item`,
    key: fragment`id`,
    keyType: fragment`bigint`,
    isOpen: fragment`true`,
    columns: fragment`id`,
  });
  const claim = async (): Promise<boolean> => (await queue.claim(pool, 10)).length > 10;
  expect(await spansOfRun(claim)).toEqual([]);
  await execute(pool, sql`insert into item (id) values (1)`);
  expect(await spansOfRun(claim)).toMatchObject([{ name: "job count", parentSpanId: "" }]);
  const publishOne = async (): Promise<boolean> =>
    await inTransaction(pool, async (tx) => {
      publish(tx, { feed: FEED, event: Money, message: cents(1n) });
      return false;
    });
  expect(await spansOfRun(publishOne)).toMatchObject([{ name: "job count" }]);
});

test("a failed run has its outcome, and only if it had begun its work", async () => {
  const busy = new Refusal({ code: "busy", status: "busy", message: "too many" });
  expect(await spansOfRun(() => Promise.reject(busy))).toEqual([]);
  const fail = async (): Promise<boolean> => {
    noteWork();
    throw busy;
  };
  expect(await spansOfRun(fail)).toMatchObject([{ hasFailed: true, attributes: { "pamm.outcome": "busy" } }]);
});

test("log lines of a run have its trace, and what goes on after its end has none", async () => {
  await using collector = await traceCollector();
  const lines: { readonly trace_id?: string }[] = [];
  {
    await using _tracing = await start(collector.url);
    const own = createLog({
      service: "test",
      level: "info",
      to: { write: (line: string) => lines.push(JSON.parse(line) as object) },
    });
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const later = await inJobSpan(
      "log",
      async () => {
        own.info("before");
        noteWork();
        own.info("after");
        startSpan("in place", { kind: "client", parent: tracePlace() }).end("ok");
        const left = gate.then(() => {
          noteWork();
          startSpan("left behind", { kind: "client" }).end("ok");
          return currentTraceId();
        });
        return { left };
      },
      outcomeOf,
    );
    open();
    expect(await later.left).toBeUndefined();
  }
  const root = collector.spans.find(({ name }) => name === "job log");
  expect(lines.map(({ trace_id: id }) => id)).toEqual([undefined, root?.traceId]);
  expect(collector.spans.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
    ["in place", root?.spanId],
    ["job log", ""],
  ]);
});

test("without tracing a run is only run", async () => {
  let depth = 0;
  expect(await inJobSpan("plain", async () => (noteWork(), (depth += 1)), outcomeOf)).toBe(1);
  expect(depth).toBe(1);
});

test("every span that ends is exported or counted as dropped", async () => {
  const SPANS = 10_000;
  const values = () => metricValues("pamm_trace_spans_total");
  await using collector = await traceCollector();
  const before = await values();
  {
    await using _tracing = await start(collector.url);
    for (let index = 0; index < SPANS; index += 1) {
      startSpan("POST /deposit", { kind: "server", mayBegin: true }).end("ok");
    }
  }
  const after = await values();
  const counted = (outcome: string): number => (after[outcome] ?? 0) - (before[outcome] ?? 0);
  expect(collector.spans).toHaveLength(counted("exported"));
  expect(counted("dropped")).toBeGreaterThan(SPANS / 2);
  expect(counted("exported") + counted("failed") + counted("dropped")).toBe(SPANS);
});
