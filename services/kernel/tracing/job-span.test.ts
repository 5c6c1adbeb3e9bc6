import { expect, test } from "vitest";
import { type ReceivedSpan, traceCollector } from "#test/support/trace-collector.ts";
import { runJob } from "../jobs/job.ts";
import { answer, call, COMMAND_ID, request, silent as log } from "../testing/calls.ts";
import { serving } from "../testing/grpc-serving.ts";
import { startTracing } from "./start.ts";

const SETTINGS = {
  OTEL_EXPORTER_OTLP_HEADERS: undefined,
  OTEL_TRACES_SAMPLER: "parentbased_always_on",
  OTEL_TRACES_SAMPLER_ARG: 1,
} as const;
const start = (url: string | undefined) =>
  startTracing({ service: "test", version: "1", settings: { ...SETTINGS, OTEL_EXPORTER_OTLP_ENDPOINT: url }, log });

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

test("each command that a run sends is a trace with the name of the job, and what it reads has no span", async () => {
  await using setup = await serving(answer);
  const spans = await spansOfRun(async () => {
    await setup.client.read(request, call());
    await setup.client.read(request, call({ commandId: COMMAND_ID }));
    await setup.client.read(request, call());
    return false;
  });
  const [sent, received] = spans.toSorted((a, b) => a.parentSpanId.length - b.parentSpanId.length);
  expect(spans).toHaveLength(2);
  expect(sent).toMatchObject({ parentSpanId: "", kind: 3, attributes: { "pamm.job": "count", "pamm.outcome": "ok" } });
  expect(received).toMatchObject({ parentSpanId: sent?.spanId, kind: 2, traceId: sent?.traceId });
  expect(received?.attributes).not.toHaveProperty("pamm.job");
});
