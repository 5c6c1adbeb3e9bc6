import type { RecordedLeg } from "../store/leg-row.ts";

/**
 * The legs of a transfer after the answer for one of them, without reading them again: an applied debit makes its credit ready.
 * Undefined when they have to be read: without a plain answer, or with legs that were added since.
 */
export function afterAnswer(
  legs: readonly RecordedLeg[],
  answered: RecordedLeg | undefined,
): readonly RecordedLeg[] | undefined {
  if (answered === undefined || answered.status.state !== "APPLIED" || answered.ordinal > 2) return undefined;
  return legs.map((leg) => {
    if (leg.number === answered.number) return answered;
    const isNext = answered.ordinal === 1 && leg.ordinal === 2 && leg.status.state === "INTENT";
    return isNext ? { ...leg, isReady: true } : leg;
  });
}
