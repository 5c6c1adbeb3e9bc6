import { hash, timingSafeEqual } from "node:crypto";
import { Gauge } from "prom-client";
import type { Clock } from "#kernel/values/clock.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import type { Secret } from "#kernel/values/secret.ts";
import { refuse } from "../../problems/refusals.ts";
import { createBuckets } from "../rate-limit.ts";
import {
  type Environment,
  findKey,
  listKeysInForce,
  markBootstrapUsed,
  markUsed,
  saveHashes,
  type StoredKey,
} from "../store/api-keys.ts";
import { allows, limitedNetwork } from "./addresses.ts";
import { hasExpired, type Pepper, readKeyId, stateOf } from "./api-key.ts";
import { type Authenticate, BOOTSTRAP_ID, type Caller, countFailure, type FailureReason } from "./caller.ts";
import { SCOPES } from "../../wire/scopes.ts";

/** Subject of the signal that keys changed. A lost message costs the time until the next periodic read. */
export const KEYS_CHANGED = "edge.v1.keys.changed";

export type KeyRingOptions = {
  readonly pool: Pool;
  readonly pepper: Pepper;
  /** Keys that were created with the previous pepper stay valid. */
  readonly oldPepper: Pepper | undefined;
  /** Of this system: a key of the other one is refused. */
  readonly environment: Environment;
  /** A key with every scope that is in no database. */
  readonly bootstrapKey: Secret<string> | undefined;
  readonly now: Clock;
};

/** Keys that were read longer ago may be revoked, so they are not accepted. Longer than a restart of the database. */
const STALE_AFTER_MS = 60_000;
/** Failures of one address or IPv6 network. Each costs a query; valid keys of the address are not slowed down. */
const FAILURES = { perSecond: 5, burst: 100 };

type CachedKey = StoredKey & { readonly caller: Caller; readonly allowsAddress: (address: string) => boolean };

/** A key whose secret was presented. */
type VerifiedKey = Pick<CachedKey, "caller" | "allowsAddress">;

/** The keys in memory, so that a request costs no query, and a key that was presented before one plain hash. */
export function createKeyRing(options: KeyRingOptions) {
  const { pool, now } = options;
  const secrets = compareSecrets(options);
  const limitFailures = failureLimit(now);
  const uses = new Map<string, Date>();
  const renewal = renewHashes(options);
  const bootstrap = bootstrapOf(options.environment);
  let cached = new Map<string, CachedKey>();
  /** By the digest of the presented key. Empty after each refresh, so that what was true of an earlier state is forgotten. */
  let verified = new Map<string, VerifiedKey>();
  let refreshedAt = now().getTime();
  let refreshed: Promise<void> = Promise.resolve();

  /** Reads all keys again, and records when each was used last. One refresh after the other, so that an earlier one cannot restore a key that a later one has removed. */
  const refresh = (): Promise<void> => (refreshed = refreshed.then(readKeys, readKeys));

  async function readKeys(): Promise<void> {
    const at = now();
    const keys = await listKeysInForce(pool, at);
    cached = new Map(keys.map((key) => [key.id, cachedKeyOf(key)]));
    verified = new Map();
    refreshedAt = at.getTime();
    await saveUses(pool, uses);
    await renewal.save(keys);
  }

  /**
   * An unknown id may belong to a key that was created a moment ago. A known id with a wrong secret makes the same query, so that
   * the time of the answer does not disclose which ids exist.
   */
  async function lookAgain(presentedKey: string, id: string, address: string): Promise<CachedKey | undefined> {
    limitFailures(address);
    const stored = await findKey(pool, id).catch(() => Promise.reject(cannotCheck()));
    if (stored !== undefined && !cached.has(id)) await refresh();
    const key = secrets.ifMatching(presentedKey, cached.get(id));
    if (key === undefined) countFailure(reasonOf(stored, now()));
    return key;
  }

  function requireFreshKeys(): void {
    if (now().getTime() - refreshedAt > STALE_AFTER_MS) throw cannotCheck();
  }

  async function verify(presentedKey: string, address: string): Promise<VerifiedKey | undefined> {
    if (secrets.isBootstrap(presentedKey)) return bootstrap;
    const id = readKeyId(presentedKey);
    if (id === undefined) return countFailure("malformed_key");
    requireFreshKeys();
    return secrets.ifMatching(presentedKey, cached.get(id)) ?? (await lookAgain(presentedKey, id, address));
  }

  async function findVerified(presentedKey: string, address: string): Promise<VerifiedKey | undefined> {
    const digest = hash("sha256", presentedKey, "base64");
    const known = verified.get(digest);
    if (known !== undefined) return known;
    const keys = cached;
    const key = await verify(presentedKey, address);
    if (key !== undefined) renewal.note(presentedKey, cached.get(key.caller.keyId));
    // A key that was read before a refresh may be revoked since.
    if (key !== undefined && keys === cached) verified.set(digest, key);
    return key;
  }

  const authenticate: Authenticate = async (presentedKey, address) => {
    const key = await findVerified(presentedKey, address);
    if (key !== undefined && key !== bootstrap) requireFreshKeys();
    const problem = key && problemOf(key, options.environment, address, now());
    if (problem !== undefined) countFailure(problem);
    if (key === undefined || problem !== undefined) {
      limitFailures(address);
      return undefined;
    }
    uses.set(key.caller.keyId, now());
    return key.caller;
  };

  return { authenticate, refresh };
}

/** Throws when the address has failed too often. */
function failureLimit(now: Clock): (address: string) => void {
  const failures = createBuckets(FAILURES, now);
  return (address) => {
    const wait = failures.take(limitedNetwork(address));
    if (wait === undefined) return;
    countFailure("too_many");
    throw refuse("rate_limited", "Too many attempts without a valid API key from this address.", wait);
  };
}

/** Uses that are noted meanwhile are saved by the next call. */
async function saveUses(pool: Pool, uses: Map<string, Date>): Promise<void> {
  const used = new Map(uses);
  uses.clear();
  const bootstrapUse = used.get(BOOTSTRAP_ID);
  if (bootstrapUse !== undefined) await markBootstrapUsed(pool, bootstrapUse);
  if (used.size > 0) await markUsed(pool, used);
}

function cannotCheck(): Refusal {
  return refuse("service_unavailable", "API keys cannot be verified: the database of the edge does not answer.");
}

/** A key of the system that it was given to, whatever its environment. */
function bootstrapOf(environment: Environment): VerifiedKey {
  const names = { keyId: BOOTSTRAP_ID, clientId: BOOTSTRAP_ID, client: BOOTSTRAP_ID };
  const rights = { scopes: new Set(SCOPES), environment, expiresAt: null };
  const caller = { ...names, ...rights, isLimitedToAddresses: false, rejectsDuplicates: false };
  return { caller, allowsAddress: () => true };
}

function cachedKeyOf(key: StoredKey): CachedKey {
  const { id, clientId, name, scopes, environment, expiresAt, allowedAddresses, duplicateComment } = key;
  const rejectsDuplicates = duplicateComment === "reject";
  const isLimitedToAddresses = allowedAddresses.length > 0;
  const own = { environment, expiresAt, isLimitedToAddresses, rejectsDuplicates };
  const caller = { keyId: id, clientId, client: name, scopes: new Set(scopes), ...own };
  return { ...key, caller, allowsAddress: allows(allowedAddresses) };
}

/** Why a key is not accepted although its secret was presented. */
function problemOf(
  { caller, allowsAddress }: VerifiedKey,
  environment: Environment,
  address: string,
  at: Date,
): FailureReason | undefined {
  if (caller.environment !== environment) return "other_environment";
  if (hasExpired(caller, at)) return "not_in_force";
  return allowsAddress(address) ? undefined : "other_address";
}

/** Why no key in force has the presented id and secret. */
function reasonOf(stored: StoredKey | undefined, at: Date): FailureReason {
  if (stored === undefined) return "unknown_key";
  return stateOf(stored, at) === "active" ? "wrong_secret" : "not_in_force";
}

const apiKeys = new Gauge({
  name: "pamm_api_keys",
  help: "API keys in force, by the pepper of their hash: the current one, or another one that may not be removed yet.",
  labelNames: ["pepper"],
});

const NO_HASH = Buffer.alloc(32);

/** A key that is stored with the previous pepper can be stored with the current one once it was presented. */
function renewHashes({ pool, pepper, oldPepper }: KeyRingOptions) {
  const renewed = new Map<string, Buffer>();
  return {
    note(presentedKey: string, key: CachedKey | undefined): void {
      if (key !== undefined && key.pepperId === oldPepper?.id) renewed.set(key.id, pepper.hash(presentedKey));
    },
    async save(keys: readonly StoredKey[]): Promise<void> {
      const others = keys.filter(({ pepperId }) => pepperId !== pepper.id).length;
      apiKeys.set({ pepper: "current" }, keys.length - others);
      apiKeys.set({ pepper: "other" }, others);
      const hashes = new Map(renewed);
      renewed.clear();
      if (hashes.size > 0) await saveHashes(pool, pepper.id, hashes);
    },
  };
}

function compareSecrets({ pepper, oldPepper, bootstrapKey }: KeyRingOptions) {
  const bootstrapHash = bootstrapKey === undefined ? NO_HASH : pepper.hash(bootstrapKey.reveal());
  return {
    isBootstrap: (presentedKey: string): boolean =>
      timingSafeEqual(pepper.hash(presentedKey), bootstrapHash) && bootstrapKey !== undefined,
    /** The key if its secret was presented. An unknown id costs the same hash and the same comparison as a wrong secret. */
    ifMatching(presentedKey: string, key: CachedKey | undefined): CachedKey | undefined {
      const itsPepper = oldPepper !== undefined && key?.pepperId === oldPepper.id ? oldPepper : pepper;
      return timingSafeEqual(itsPepper.hash(presentedKey), key?.hash ?? NO_HASH) ? key : undefined;
    },
  };
}
