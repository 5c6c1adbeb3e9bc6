import { timingSafeEqual } from "node:crypto";
import type { Clock } from "#kernel/clock.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { Refusal } from "#kernel/refusal.ts";
import type { Secret } from "#kernel/secret.ts";
import type { Authenticate, Caller } from "./auth.ts";
import { createBuckets } from "../rate-limit.ts";
import { refuse } from "../problems/refusals.ts";
import { SCOPES } from "./scopes.ts";
import { findKey, listKeysInForce, markUsed, type StoredKey } from "../store/api-keys.ts";
import { allows } from "./addresses.ts";
import { readKeyId } from "./api-key.ts";
import type { Pepper } from "./pepper.ts";

/** Subject of the signal that keys changed. A lost message costs the time until the next periodic read. */
export const KEYS_CHANGED = "edge.v1.keys.changed";

export type KeyRingOptions = {
  readonly pool: Pool;
  readonly pepper: Pepper;
  /** Keys that were created with the previous pepper stay valid. */
  readonly oldPepper: Pepper | undefined;
  /** A key with every scope that is in no database. */
  readonly bootstrapKey: Secret<string> | undefined;
  readonly now: Clock;
};

export type KeyRing = {
  readonly authenticate: Authenticate;
  /** Reads all keys again and records when each was used last. */
  readonly refresh: () => Promise<void>;
};

type Held = StoredKey & { readonly caller: Caller; readonly allowsAddress: (address: string) => boolean };

/** Older keys may have been revoked in the meantime, so they are not accepted. */
const STALE_AFTER_MS = 60_000;
/** Failures of one address; its valid keys are not slowed down by them. */
const FAILURES = { perSecond: 5, burst: 100 };
const BOOTSTRAP_ID = "bootstrap";
const NO_HASH = Buffer.alloc(32);

/** The keys in memory, so that a request costs a hash and no query. */
export function createKeyRing({ pool, pepper, oldPepper, bootstrapKey, now }: KeyRingOptions): KeyRing {
  const bootstrapHash = bootstrapKey === undefined ? NO_HASH : pepper.hash(bootstrapKey.reveal());
  const failures = createBuckets(FAILURES, now);
  const uses = new Map<string, Date>();
  let held = new Map<string, Held>();
  let refreshedAt = now().getTime();
  let refreshed: Promise<void> = Promise.resolve();

  /** One after the other, each begun after it was asked for, so that none can bring back what a later one took away. */
  function refresh(): Promise<void> {
    refreshed = refreshed.then(readKeys, readKeys);
    return refreshed;
  }

  async function readKeys(): Promise<void> {
    const at = now();
    const keys = await listKeysInForce(pool, at);
    held = new Map(keys.map((key) => [key.id, hold(key)]));
    refreshedAt = at.getTime();
    const used = new Map(uses);
    uses.clear();
    if (used.size > 0) await markUsed(pool, used);
  }

  /** An unknown id may belong to a key that was created a moment ago. */
  async function find(id: string, address: string): Promise<Held | undefined> {
    if (now().getTime() - refreshedAt > STALE_AFTER_MS) throw cannotCheck();
    if (held.has(id)) return held.get(id);
    countFailure(address);
    const isInDatabase = await findKey(pool, id).catch(() => Promise.reject(cannotCheck()));
    if (isInDatabase !== undefined) await refresh();
    return held.get(id);
  }

  function pepperFor(key: Held | undefined): Pepper {
    return oldPepper !== undefined && key?.pepperId === oldPepper.id ? oldPepper : pepper;
  }

  function countFailure(address: string): void {
    const wait = failures.take(address);
    if (wait !== undefined) {
      throw refuse("rate_limited", "Too many attempts without a valid API key from this address.", wait);
    }
  }

  return {
    refresh,
    async authenticate(presentedKey, address) {
      const isBootstrap = timingSafeEqual(pepper.hash(presentedKey), bootstrapHash) && bootstrapKey !== undefined;
      if (isBootstrap) return BOOTSTRAP;
      const id = readKeyId(presentedKey);
      const key = id === undefined ? undefined : await find(id, address);
      // An unknown id costs the same hash and the same comparison as a wrong secret.
      const presentedHash = pepperFor(key).hash(presentedKey);
      const isRight = timingSafeEqual(presentedHash, key?.hash ?? NO_HASH);
      if (key !== undefined && isRight && isInForce(key, now()) && key.allowsAddress(address)) {
        uses.set(key.id, now());
        return key.caller;
      }
      countFailure(address);
      return undefined;
    },
  };
}

const BOOTSTRAP: Caller = {
  keyId: BOOTSTRAP_ID,
  client: BOOTSTRAP_ID,
  scopes: new Set(SCOPES),
  rejectsDuplicates: false,
};

function cannotCheck(): Refusal {
  return refuse("service_unavailable", "API keys cannot be verified now. Retry shortly.");
}

function hold(key: StoredKey): Held {
  const { id, name, scopes, allowedAddresses, duplicateComment } = key;
  const rejectsDuplicates = duplicateComment === "reject";
  const caller = { keyId: id, client: name, scopes: new Set(scopes), rejectsDuplicates };
  return { ...key, caller, allowsAddress: allows(allowedAddresses) };
}

function isInForce({ revokedAt, expiresAt }: StoredKey, at: Date): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt.getTime() > at.getTime());
}
