import { Counter } from "prom-client";

const exported = new Counter({
  name: "pamm_trace_spans_total",
  help: "Spans that were sent to the collector, by outcome: exported or failed.",
  labelNames: ["outcome"],
});

export function countExported(outcome: "exported" | "failed", count: number): void {
  exported.inc({ outcome }, count);
}
