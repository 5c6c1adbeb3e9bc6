import { parseArgs } from "node:util";

/** Sizes of a run. */
export type Options = {
  /** Names of the workloads; empty runs all. */
  readonly parts: readonly string[];
  /** The other arguments, for the command that is shown with the figures. */
  readonly flags: readonly string[];
  readonly isQuick: boolean;
  /** Rounds in which contestants are measured one after the other; each gives one ratio of a pair. */
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** Numbers of callers, ascending; ratios are about the last one. */
  readonly callers: readonly number[];
  readonly investors: number;
  readonly masters: number;
  /** Movements that wait for their mirror. */
  readonly flows: number;
  /** Investors who leave their Masters at the same time. */
  readonly exits: number;
  readonly soakMinutes: number;
  /** Folder for the document. */
  readonly out: string;
};

const FULL = {
  rounds: 5,
  seconds: 4,
  warmUp: 2,
  callers: [1, 8, 64],
  investors: 200,
  masters: 8,
  flows: 100_000,
  exits: 10_000,
  minutes: 20,
};
/** Shows that everything works; the figures mean nothing. */
const QUICK = {
  rounds: 1,
  seconds: 2,
  warmUp: 0.5,
  callers: [1, 4],
  investors: 16,
  masters: 2,
  flows: 2_000,
  exits: 40,
  minutes: 0.1,
};

/** node test/bench/run.ts [part ...] [--quick] [--rounds 5] [--seconds 4] [--callers 1,8,64] [--flows 100000] [--exits 10000] [--minutes 20] [--out docs] */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      rounds: { type: "string" },
      seconds: { type: "string" },
      callers: { type: "string" },
      flows: { type: "string" },
      exits: { type: "string" },
      minutes: { type: "string" },
      out: { type: "string" },
    },
  });
  const sizes = values.quick ? QUICK : FULL;
  return {
    parts: positionals,
    flags: args.filter((arg) => !positionals.includes(arg)),
    isQuick: values.quick,
    rounds: positive("rounds", values.rounds, sizes.rounds),
    warmUpMs: sizes.warmUp * 1_000,
    measureMs: positive("seconds", values.seconds, sizes.seconds) * 1_000,
    callers: values.callers?.split(",").map((each) => positive("callers", each, 0)) ?? sizes.callers,
    investors: sizes.investors,
    masters: sizes.masters,
    flows: positive("flows", values.flows, sizes.flows),
    exits: positive("exits", values.exits, sizes.exits),
    soakMinutes: positive("minutes", values.minutes, sizes.minutes),
    // The figures of a quick run do not replace measured ones.
    out: values.out ?? (values.quick ? ".cache/bench" : "docs"),
  };
}

function positive(name: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0, not ${text}`);
  return value;
}
