import { createHash, createHmac, hkdfSync, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Secret } from "#kernel/values/secret.ts";
import type { Environment, StoredKey } from "../store/api-keys.ts";

/** `pamm_<live|test>_<id>_<secret>_<checksum>`: secret scanners find it, and an invalid key is rejected without a query. */
const KEY = /^pamm_(live|test)_([0-9A-Za-z]{12})_([0-9A-Za-z]{43})_([0-9A-Za-z]{6})$/;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 12;
/** 62^43 is a little more than 2^256. */
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

export function mintKey(environment: Environment): { id: string; text: string } {
  const id = randomText(ID_LENGTH);
  const body = `pamm_${environment}_${id}_${randomText(SECRET_LENGTH)}`;
  return { id, text: `${body}_${checksum(body)}` };
}

/** The public id of a well-formed key of this service. */
export function readKeyId(text: string): string | undefined {
  const [, , id, , sum] = KEY.exec(text) ?? [];
  const body = text.slice(0, -CHECKSUM_LENGTH - 1);
  return id !== undefined && checksum(body) === sum ? id : undefined;
}

function randomText(length: number): string {
  return Array.from({ length }, () => BASE62.charAt(randomInt(BASE62.length))).join("");
}

function checksum(body: string): string {
  let rest = crc32(body);
  let digits = "";
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}

export function hasExpired({ expiresAt }: Pick<StoredKey, "expiresAt">, at: Date): boolean {
  return expiresAt !== null && expiresAt <= at;
}

export function stateOf(key: Pick<StoredKey, "revokedAt" | "expiresAt">, at: Date): "active" | "expired" | "revoked" {
  if (key.revokedAt !== null) return "revoked";
  return hasExpired(key, at) ? "expired" : "active";
}

/** Part of every key hash that is not in the database: a stolen database alone cannot verify keys. */
export type Pepper = {
  /** Identifies the pepper without revealing it. */
  readonly id: string;
  readonly hash: (key: string) => Buffer;
};

const KEY_BYTES = 32;
const PEPPER_ID_LENGTH = 12;

/** Sub-keys, so that each purpose has its own key. */
export function deriveKey(masterKey: Secret<Buffer>, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", masterKey.reveal(), Buffer.alloc(0), `edge ${purpose}`, KEY_BYTES));
}

export function pepperOf(masterKey: Secret<Buffer>): Pepper {
  const pepper = deriveKey(masterKey, "api keys");
  return {
    id: createHash("sha256").update("pepper id").update(pepper).digest("hex").slice(0, PEPPER_ID_LENGTH),
    hash: (key) => createHmac("sha256", pepper).update(key).digest(),
  };
}
