import process from "node:process";
import fc from "fast-check";
import { countFigures } from "#test/support/figures.ts";
import { sized } from "#test/support/proof.ts";

/** Every run of the suite tries the same inputs, so that failures repeat. */
const USUAL_SEED = 20_260_704;

/** FUZZ_RUNS=100 tries a hundred times as many inputs, from a new seed unless FUZZ_SEED is set. */
export const FUZZ_FACTOR = Number(process.env["FUZZ_RUNS"] ?? sized({ test: "1", proof: "10" }));
const FUZZ_SEED = Number(
  process.env["FUZZ_SEED"] ?? (process.env["FUZZ_RUNS"] === undefined ? USUAL_SEED : Date.now() % 2 ** 31),
);

/** Enough for the slowest property on a busy machine. */
export const FUZZ_TIMEOUT_MS = 60_000 + 60_000 * FUZZ_FACTOR;

const SHOWN_FAILURE_LENGTH = 4_000;

/** A failure names its seed and the smallest input that still fails. */
export function fuzz<Input>(
  what: string,
  usualRuns: number,
  inputs: fc.Arbitrary<Input>,
  holds: (input: Input) => void,
): void {
  const numRuns = runsOf(usualRuns);
  using _ = withoutStacks();
  requirePassed(fc.check(fc.property(inputs, holds), { numRuns, seed: FUZZ_SEED }));
  countFigures({ inputs: numRuns });
  report(what, numRuns);
}

export async function fuzzAsync<Input>(
  what: string,
  usualRuns: number,
  inputs: fc.Arbitrary<Input>,
  holds: (input: Input) => Promise<void>,
): Promise<void> {
  const numRuns = runsOf(usualRuns);
  using _ = withoutStacks();
  requirePassed(await fc.check(fc.asyncProperty(inputs, holds), { numRuns, seed: FUZZ_SEED }));
  countFigures({ inputs: numRuns });
  report(what, numRuns);
}

/** Texts separated by " | ", to keep a long list readable. */
export function listed(text: string): string[] {
  return text.split(" | ");
}

function runsOf(usual: number): number {
  return Math.max(1, Math.ceil(usual * FUZZ_FACTOR));
}

/** On standard error, which every reporter shows. */
export function report(what: string, inputs: number): void {
  process.stderr.write(`fuzz: ${inputs.toLocaleString("en-US")} inputs, seed ${FUZZ_SEED}: ${what}\n`);
}

/** Many inputs end in an error, and stack traces would take most of the time. */
function withoutStacks(): Disposable {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  return { [Symbol.dispose]: () => (Error.stackTraceLimit = stackTraceLimit) };
}

function requirePassed<T>(run: fc.RunDetails<T>): void {
  if (!run.failed) return;
  const text = fc.defaultReportMessage(run) ?? "failed";
  const shown = text.length > SHOWN_FAILURE_LENGTH ? `${text.slice(0, SHOWN_FAILURE_LENGTH)}...` : text;
  throw new Error(`FUZZ_SEED=${FUZZ_SEED} ${shown}`, { cause: run.errorInstance });
}
