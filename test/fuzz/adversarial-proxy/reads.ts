import type { Random } from "../support/random.ts";
import { failure } from "./connection.ts";

type Row = Readonly<Record<string, unknown>>;
type Answer = { readonly retcode: string; readonly answer?: unknown };
type Distortion = (answer: Answer, random: Random) => unknown;

const ERROR_CODES = [2, 7, 9, 10, 11, 12, 15];
const MEMBERS: readonly Row[] = [
  { Login: "1" },
  { Profit: "1e2" },
  { Deal: undefined },
  { TimeMsc: "9".repeat(16) },
  { Deal: "0" },
];

/** Detectable distortions: a missing row with a total that agrees is not detectable. */
const DISTORTIONS: readonly Distortion[] = [
  (_, random) => JSON.parse(failure(random.pick(ERROR_CODES))) as unknown,
  (answer) => ({ ...answer, answer: null }),
  (answer) => ({ ...answer, answer: [answer.answer] }),
  (answer) => ({ retcode: 0, answer: answer.answer }),
  (answer) => ({ ...answer, Retcode: "13 Not found" }),
  ...MEMBERS.map((members): Distortion => {
    return (answer, random) => ({ ...answer, answer: inOneRow(answer.answer, random, members) });
  }),
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
  const more = path.endsWith("get_total") ? OF_TOTALS : /get_(?:page|batch)$/.test(path) ? OF_LISTS : [];
  return JSON.stringify(random.pick([...DISTORTIONS, ...more])(JSON.parse(body) as Answer, random));
}

function inOneRow(answer: unknown, random: Random, members: Row): unknown {
  if (!Array.isArray(answer)) return typeof answer === "object" && answer !== null ? { ...answer, ...members } : answer;
  const at = random.below(answer.length + 1);
  return answer.map((row: Row, index) => (index === at ? { ...row, ...members } : row));
}
