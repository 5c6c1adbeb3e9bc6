import type { AnsweredRequest, Answer } from "../journey/support/money-request.ts";
import type { FaultRun } from "./run-fault.ts";

const HEADER = [
  "fault",
  "requests",
  "done",
  "not executed",
  "unknown",
  "no answer",
  "of these executed / not / in review",
  "slowest answer",
  "served again after",
  "all known after",
  "wrong answers",
];

/** A Markdown table with a row for each fault. */
export function table(runs: readonly FaultRun[]): string {
  const rows = runs.map(rowOf);
  return [HEADER, HEADER.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

function rowOf({ name, requests, found, lastedMs, servedAfterMs, knownAfterMs, wrongAnswers }: FaultRun): string[] {
  const count = (...wanted: readonly Answer[]): string =>
    String(requests.filter(({ answer }: AnsweredRequest) => wanted.includes(answer)).length);
  return [
    `${name} (${seconds(lastedMs)})`,
    String(requests.length),
    count("done", "nothing"),
    count("not_executed"),
    count("unknown"),
    count("lost"),
    `${found.executed} / ${found.notExecuted} / ${found.review}`,
    seconds(Math.max(0, ...requests.map(({ tookMs }) => tookMs))),
    seconds(servedAfterMs),
    seconds(knownAfterMs),
    String(wrongAnswers.length),
  ];
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
