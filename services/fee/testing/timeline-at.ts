import { type FeeVersion, termsAt } from "../domain/version.ts";

/** The rate of profit earned at an instant: 0 while the switch is off and before the first version is valid. */
export function rateAt(versions: readonly FeeVersion[], earnedAt: Date): number {
  const hasBegun = versions.some(({ effectiveSince }) => effectiveSince <= earnedAt);
  if (!hasBegun) return 0;
  const { ratePpm, enabled } = termsAt(versions, earnedAt);
  return enabled ? ratePpm : 0;
}

/** Whether fees are collected at an instant. Without a configuration there are none. */
export function isEnabledAt(versions: readonly FeeVersion[], at: Date): boolean {
  return versions.length > 0 && termsAt(versions, at).enabled;
}
