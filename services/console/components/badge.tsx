import { words } from "../formats/words.ts";

export type Tone = "good" | "waiting" | "warn" | "bad" | "quiet";

const TONES: Readonly<Record<string, Tone>> = {
  executed: "good",
  active: "good",
  open: "warn",
  ready: "good",
  reached: "good",
  current: "good",
  converged: "good",
  "not converged": "warn",
  pending: "waiting",
  proposed: "waiting",
  paused: "waiting",
  starting: "waiting",
  not_accepting: "waiting",
  closing: "waiting",
  unknown: "bad",
  review: "warn",
  degraded: "warn",
  draining: "waiting",
  stale: "bad",
  unreachable: "bad",
  not_executed: "quiet",
  cancelled: "quiet",
  archived: "quiet",
  decided: "good",
  closed: "quiet",
  obsolete: "quiet",
};

/** A state in its own words. The tone only repeats what the words say. */
export function Badge({ state, tone }: { readonly state: string; readonly tone?: Tone }) {
  return <span class={`badge ${tone ?? TONES[state.toLowerCase()] ?? "quiet"}`}>{words(state)}</span>;
}
