import { refuse } from "../refusals.ts";

/** 1, in parts per million. */
export const WHOLE_PPM = 1_000_000;

export function checkRate(ratePpm: number): void {
  if (ratePpm < 0 || ratePpm > WHOLE_PPM) {
    const message = "rate must be from 0 to 1.";
    throw refuse("validation_failed", "The request is invalid.", {
      errors: [{ field: "rate", code: "out_of_range", message }],
    });
  }
}
