import type { FeeVersion } from "#proto/pamm/fee/v1/fee.ts";
import type { Version, VersionState } from "../domain/timeline.ts";

export function versionMessage(
  { id, ratePpm, enabled, effectiveSince, madeAt: createdAt }: Version,
  state: VersionState,
): FeeVersion {
  return { id, ratePpm, enabled, effectiveSince, createdAt, state };
}
