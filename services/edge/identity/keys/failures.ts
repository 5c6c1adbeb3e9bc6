import { Counter } from "prom-client";

export const FAILURE_REASONS = [
  /** No bearer token, or one that cannot be a key. */
  "no_key",
  /** Not in the form of a key, or its checksum is wrong. */
  "malformed_key",
  "unknown_key",
  "wrong_secret",
  /** Revoked or expired. */
  "not_in_force",
  "other_environment",
  "other_address",
  /** Too many failures of one address: answered 429. */
  "too_many",
  /** The key is valid, and lacks the scope of the route: answered 403. */
  "scope",
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

const failures = new Counter({
  name: "pamm_http_authentication_failures_total",
  help: "Requests refused because of their API key, by reason. The reason is not disclosed to the caller.",
  labelNames: ["reason"],
});
for (const reason of FAILURE_REASONS) failures.inc({ reason }, 0);

export function countFailure(reason: FailureReason): undefined {
  failures.inc({ reason });
}
