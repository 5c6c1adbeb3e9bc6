import type { FeeVersion } from "#proto/pamm/fee/v1/fee.ts";
import type { TimelineVersion, VersionState } from "../domain/timeline.ts";

export function versionMessage(
  { id, ratePpm, enabled, since }: TimelineVersion,
  state: VersionState,
  createdAt: Date,
): FeeVersion {
  return { id, ratePpm, enabled, effectiveSince: since, createdAt, state };
}
