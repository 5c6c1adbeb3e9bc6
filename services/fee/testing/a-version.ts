import type { FeeVersion } from "../domain/version.ts";

/** A version whose rate and switch are valid from the same instant. */
export function aVersion(from: Date, parts: Partial<FeeVersion> = {}): FeeVersion {
  return { ratePpm: 300_000, rateFrom: from, enabled: true, enabledFrom: from, effectiveSince: from, ...parts };
}
