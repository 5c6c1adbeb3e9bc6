import { randomUUID } from "node:crypto";
import type { Clock } from "#kernel/values/clock.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { isSameOwner } from "#kernel/review/owner.ts";
import { insertAuditEntries } from "../store/access-audit.ts";
import type { Scope } from "../../wire/scopes.ts";
import {
  type DuplicateComment,
  type Environment,
  findKeySystem,
  insertKey,
  listAllKeys,
  lockKey,
  markExpiring,
  markRevoked,
  type NewKey,
  type StoredKey,
} from "../store/api-keys.ts";
import { mintKey, type Pepper, stateOf } from "./api-key.ts";

export type KeyAdministration = {
  readonly pool: Pool;
  readonly pepper: Pepper;
  readonly now: Clock;
  /** Who administers: the name that the audit keeps. */
  readonly actor: string;
  /** Signals every replica of the edge to read its keys at once. */
  readonly announce: (keyId: string) => Promise<void>;
};

export type KeyRequest = {
  /** That of the system without it. */
  readonly environment: Environment | undefined;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly allowedAddresses: readonly string[];
  readonly duplicateComment: DuplicateComment;
  readonly expiresAt: Date | null;
};

/** The secret is shown once and not stored. */
export type ShownKey = { readonly id: string; readonly text: string };

/** The command cannot be carried out; operators see the message. */
export class KeyCommandError extends Error {
  override readonly name = "KeyCommandError";
}

export async function createKey(admin: KeyAdministration, request: KeyRequest): Promise<ShownKey> {
  const environment = await environmentOf(admin, request.environment);
  await requireSameSpelling(admin, request.name);
  const { shown, row } = mint(admin, { ...request, environment }, undefined);
  await inTransaction(admin.pool, async (tx) => {
    await insertKey(tx, row);
    await audit(tx, admin, "create", shown.id);
  });
  await admin.announce(shown.id);
  return shown;
}

/** Four-eyes approval takes the spellings of a name for one owner, so two of them would only hide that. */
async function requireSameSpelling({ pool }: KeyAdministration, name: string): Promise<void> {
  const other = (await listAllKeys(pool)).find((key) => key.name !== name && isSameOwner(key.name, name));
  if (other === undefined) return;
  throw new KeyCommandError(
    `--name: an owner with this name has keys as ${JSON.stringify(other.name)}. Write it the same way, or name another owner.`,
  );
}

/** The environment of the system. Before its first start it is not known, and has to be named. */
async function environmentOf({ pool }: KeyAdministration, wanted: Environment | undefined): Promise<Environment> {
  const system = await findKeySystem(pool);
  const environment = wanted ?? system?.environment;
  if (environment === undefined) {
    throw new KeyCommandError(
      "--environment is required before the first start of the system: live, or test for a rehearsal.",
    );
  }
  if (system === undefined || system.environment === environment) return environment;
  const reason = system.environment === "test" ? "PAMM_REHEARSAL is true" : "PAMM_REHEARSAL is false";
  throw new KeyCommandError(`--environment must be ${system.environment} in this system, because its ${reason}.`);
}

/** A new key with the rights of the old one, which stays valid for a while so that the client can change over. */
export async function rotateKey(
  admin: KeyAdministration,
  id: string,
  overlapMs: number,
): Promise<ShownKey & { readonly oldExpiresAt: Date }> {
  const oldExpiresAt = new Date(admin.now().getTime() + overlapMs);
  const shown = await inTransaction(admin.pool, async (tx) => {
    const old = usable(await lockKey(tx, id), id, admin.now());
    const made = mint(admin, old, old);
    await insertKey(tx, made.row);
    await markExpiring(tx, old.id, oldExpiresAt);
    await audit(tx, admin, "rotate", old.id);
    return made.shown;
  });
  await admin.announce(id);
  return { ...shown, oldExpiresAt };
}

export async function revokeKey(admin: KeyAdministration, id: string): Promise<void> {
  await inTransaction(admin.pool, async (tx) => {
    const key = await lockKey(tx, id);
    if (key === undefined) throw new KeyCommandError(`Key ${id} does not exist.`);
    await markRevoked(tx, id, admin.now());
    await audit(tx, admin, "revoke", id);
  });
  await admin.announce(id);
}

/** Recorded in the commit of the change, as the request of the actor about this key. */
async function audit(
  tx: Transaction,
  { actor, now }: KeyAdministration,
  command: string,
  keyId: string,
): Promise<void> {
  const entry = {
    at: now(),
    requestId: randomUUID(),
    keyId: null,
    client: actor,
    address: "local",
    method: "KEYS",
    route: `keys ${command}`,
    operationId: keyId,
    decision: "allowed",
    status: 200,
    code: null,
  } as const;
  await insertAuditEntries(tx, [entry]);
}

type Minted = KeyRequest & { readonly environment: Environment };

function mint({ pepper, now }: KeyAdministration, request: Minted, replaced: StoredKey | undefined) {
  const shown = mintKey(request.environment);
  const { id, text } = shown;
  const secret = { pepperId: pepper.id, hash: pepper.hash(text) };
  const chain = { replaces: replaced?.id ?? null, clientId: replaced?.clientId ?? id };
  const row: NewKey = { ...request, ...secret, ...chain, id, createdAt: now() };
  return { shown, row };
}

function usable(key: StoredKey | undefined, id: string, at: Date): StoredKey {
  if (key === undefined) throw new KeyCommandError(`Key ${id} does not exist.`);
  const state = stateOf(key, at);
  if (state !== "active") throw new KeyCommandError(`Key ${id} is ${state}. Create a new key.`);
  return key;
}
