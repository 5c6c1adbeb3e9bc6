import type { AnyProblem } from "./types.ts";

/** The service answered with a problem body (RFC 9457). */
export class ProblemError<Problem extends AnyProblem = AnyProblem> extends Error {
  override readonly name = "ProblemError";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`${problem.code}: ${problem.detail}`);
    this.problem = problem;
  }
}

/** The service did not answer: no connection, a connection that broke, an answer of something in between, or the time is over. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

type WithCode<Code extends AnyProblem["code"]> = Extract<AnyProblem, { code: Code }>;

/** Whether the error is a problem with one of these codes, whose members it then has. */
export function isProblem<const Code extends AnyProblem["code"]>(
  error: unknown,
  ...codes: readonly Code[]
): error is ProblemError<WithCode<Code>> {
  return error instanceof ProblemError && codes.some((code) => code === error.problem.code);
}
