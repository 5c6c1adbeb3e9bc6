import type { Asked, Said } from "../journey/support/asked.ts";
import type { Played } from "./play.ts";

const HEADER = [
  "fault",
  "asked",
  "done",
  "not executed",
  "unknown",
  "no answer",
  "of these executed / not / with a person",
  "slowest answer",
  "served again after",
  "all known after",
  "broken promises",
];

/** A row for each trouble, in Markdown. */
export function table(played: readonly Played[]): string {
  const rows = played.map(rowOf);
  return [HEADER, HEADER.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

function rowOf({ name, asked, found, lastedMs, servedAfterMs, knownAfterMs, broken }: Played): string[] {
  const count = (...wanted: readonly Said[]): string =>
    String(asked.filter(({ said }: Asked) => wanted.includes(said)).length);
  return [
    `${name} (${seconds(lastedMs)})`,
    String(asked.length),
    count("done", "nothing"),
    count("not_executed"),
    count("unknown"),
    count("lost"),
    `${found.executed} / ${found.notExecuted} / ${found.review}`,
    seconds(Math.max(0, ...asked.map(({ tookMs }) => tookMs))),
    seconds(servedAfterMs),
    seconds(knownAfterMs),
    String(broken.length),
  ];
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
