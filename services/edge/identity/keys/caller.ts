import { Counter } from "prom-client";
import { refuse } from "../../problems/refusals.ts";
import type { Environment } from "../store/api-keys.ts";
import type { Scope } from "../../wire/scopes.ts";

/** The caller, as its API key identifies it. */
export type Caller = {
  readonly keyId: string;
  /** The first key of the chain of rotations: a rotated key belongs to the same client. */
  readonly clientId: string;
  /** Name of the key's owner, a person or a system. */
  readonly client: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly environment: Environment;
  /** Null for a key that does not expire. */
  readonly expiresAt: Date | null;
  /** It is accepted from some addresses only. */
  readonly isLimitedToAddresses: boolean;
  /** Deposits and withdrawals that equal one of the last 24 hours are refused. */
  readonly rejectsDuplicates: boolean;
};

/** Undefined for any key that is not valid now, from this address; the reason is not disclosed. */
export type Authenticate = (presentedKey: string, address: string) => Promise<Caller | undefined>;

/** Client and owner of the bootstrap key. */
export const BOOTSTRAP_ID = "bootstrap";

const FAILURE_REASONS = [
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

/** One of the scopes is enough; the first is named in the refusal. */
export function demandScope({ scopes }: Pick<Caller, "scopes">, required: readonly Scope[]): void {
  const [first] = required;
  if (first === undefined || required.some((one) => scopes.has(one))) return;
  countFailure("scope");
  throw refuse("insufficient_scope", `The API key lacks the scope ${required.join(" or ")}.`, {
    details: { required_scope: first },
  });
}
