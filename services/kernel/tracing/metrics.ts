import { Counter } from "prom-client";

const exported = new Counter({
  name: "pamm_trace_spans_total",
  help: "Spans by outcome: exported, failed (the collector did not take them), or dropped (more were waiting than fit).",
  labelNames: ["outcome"],
});

export function countSpans(outcome: "exported" | "failed" | "dropped", count: number): void {
  exported.inc({ outcome }, count);
}
