import type { Random } from "../support/random.ts";
import { failure } from "./commands.ts";

type Row = Record<string, unknown>;
type Answer = { retcode: string; answer?: unknown };
type Distortion = (answer: Answer, random: Random) => unknown;

const ERROR_CODES = [2, 7, 9, 10, 11, 12, 15];

/** Detectable distortions: a missing row with a total that agrees is not detectable. */
const DISTORTIONS: readonly Distortion[] = [
  (_, random) => JSON.parse(failure(random.pick(ERROR_CODES), "Later")) as unknown,
  (answer) => ({ ...answer, answer: null }),
  (answer) => ({ ...answer, answer: [answer.answer] }),
  (answer) => ({ retcode: 0, answer: answer.answer }),
  (answer) => ({ ...answer, Retcode: "13 Not found" }),
  (answer, random) => ({ ...answer, answer: inRows(answer.answer, random, (row) => ({ ...row, Login: "1" })) }),
  (answer, random) => ({ ...answer, answer: inRows(answer.answer, random, (row) => ({ ...row, Profit: "1e2" })) }),
  (answer, random) => ({ ...answer, answer: inRows(answer.answer, random, (row) => ({ ...row, Deal: undefined })) }),
  (answer, random) => ({
    ...answer,
    answer: inRows(answer.answer, random, (row) => ({ ...row, TimeMsc: "9".repeat(16) })),
  }),
  (answer, random) => ({ ...answer, answer: inRows(answer.answer, random, (row) => ({ ...row, Deal: "0" })) }),
];

/** A page may repeat or lack a row; a total may change. */
const OF_LISTS: readonly Distortion[] = [
  ({ answer, ...rest }) => ({ ...rest, answer: Array.isArray(answer) ? answer.slice(1) : answer }),
  ({ answer, ...rest }) => ({ ...rest, answer: Array.isArray(answer) ? [...answer, ...answer.slice(0, 1)] : answer }),
];
const OF_TOTALS: readonly Distortion[] = [
  (answer, random) => ({ ...answer, answer: { total: String(1 + random.below(300)) } }),
  (answer) => ({ ...answer, answer: { Total: "-1" } }),
  (answer) => ({ ...answer, answer: { Total: "1", total: "2" } }),
];

export function distortedRead(path: string, body: string, random: Random): string {
  const correct = JSON.parse(body) as Answer;
  if (path.endsWith("get_total")) return JSON.stringify(random.pick([...DISTORTIONS, ...OF_TOTALS])(correct, random));
  if (path.endsWith("get_page") || path.endsWith("get_batch")) {
    return JSON.stringify(random.pick([...DISTORTIONS, ...OF_LISTS])(correct, random));
  }
  return JSON.stringify(random.pick(DISTORTIONS)(correct, random));
}

function inRows(answer: unknown, random: Random, change: (row: Row) => Row): unknown {
  if (!Array.isArray(answer)) return typeof answer === "object" && answer !== null ? change(answer as Row) : answer;
  const at = random.below(answer.length + 1);
  return answer.map((row: Row, index) => (index === at ? change(row) : row));
}
