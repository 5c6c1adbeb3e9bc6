/** Answers to commands that did not come, or not so that they could be believed. */
export type MissedAnswers = {
  readonly tell: () => void;
  /** One of them may still come, to whoever asks next. */
  readonly mayCome: () => boolean;
};

/** A command may be executed, and so answered, this much later. */
const COMES_WITHIN_MS = 10 * 60_000;

/** `isMissing`: whether somebody before this process left a command without its answer. */
export function createMissedAnswers(isMissing: boolean): MissedAnswers {
  let missedAtMs = isMissing ? performance.now() : undefined;
  return {
    tell: () => void (missedAtMs = performance.now()),
    mayCome: () => missedAtMs !== undefined && performance.now() - missedAtMs < COMES_WITHIN_MS,
  };
}
