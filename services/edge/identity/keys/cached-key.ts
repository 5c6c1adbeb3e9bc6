import { SCOPES } from "./scopes.ts";
import type { Environment, StoredKey } from "../store/api-keys.ts";
import { allows } from "./addresses.ts";
import { type Caller, BOOTSTRAP_ID } from "./auth.ts";
import type { FailureReason } from "./failures.ts";

export type CachedKey = StoredKey & { readonly caller: Caller; readonly allowsAddress: (address: string) => boolean };

/** A key whose secret was presented. */
export type VerifiedKey = Pick<CachedKey, "environment" | "caller" | "allowsAddress" | "expiresAt" | "revokedAt">;

/** A key of the system that it was given to, whatever its environment. */
export function bootstrapOf(environment: Environment): VerifiedKey {
  const caller = {
    keyId: BOOTSTRAP_ID,
    clientId: BOOTSTRAP_ID,
    client: BOOTSTRAP_ID,
    scopes: new Set(SCOPES),
    environment,
    expiresAt: null,
    isLimitedToAddresses: false,
    rejectsDuplicates: false,
  };
  return { environment, caller, allowsAddress: () => true, expiresAt: null, revokedAt: null };
}

export function cachedKeyOf(key: StoredKey): CachedKey {
  const { id, clientId, name, scopes, environment, expiresAt, allowedAddresses, duplicateComment } = key;
  const rejectsDuplicates = duplicateComment === "reject";
  const isLimitedToAddresses = allowedAddresses.length > 0;
  const own = { environment, expiresAt, isLimitedToAddresses, rejectsDuplicates };
  const caller = { keyId: id, clientId, client: name, scopes: new Set(scopes), ...own };
  return { ...key, caller, allowsAddress: allows(allowedAddresses) };
}

type Presented = { readonly environment: Environment; readonly at: Date; readonly address: string };

/** Why a key is not accepted although its secret was presented. */
export function problemOf(key: VerifiedKey, { environment, at, address }: Presented): FailureReason | undefined {
  if (key.environment !== environment) return "other_environment";
  if (!isInForce(key, at)) return "not_in_force";
  return key.allowsAddress(address) ? undefined : "other_address";
}

/** Why no key in force has the presented id and secret. */
export function reasonOf(stored: StoredKey | undefined, at: Date): FailureReason {
  if (stored === undefined) return "unknown_key";
  return isInForce(stored, at) ? "wrong_secret" : "not_in_force";
}

function isInForce({ revokedAt, expiresAt }: Pick<StoredKey, "revokedAt" | "expiresAt">, at: Date): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt.getTime() > at.getTime());
}
