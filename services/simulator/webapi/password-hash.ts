import { createHash, timingSafeEqual } from "node:crypto";

/** The base of the server's hashes: MD5 over the bytes of MD5(password in UTF-16LE) and the text WebAPI. */
export function passwordHash(password: string): Buffer {
  return md5(md5(Buffer.from(password, "utf16le")), Buffer.from("WebAPI", "ascii"));
}

/** The answer to a random: all concatenations are of raw bytes, never of hex text. */
export function randomAnswer(hash: Buffer, randomHex: string): string {
  return md5(hash, Buffer.from(randomHex, "hex")).toString("hex");
}

export function isSameHex(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
}

/** Passwords of client accounts are stored as digests with their login, for comparison only. */
export function storedDigest(login: number, password: string): string {
  return createHash("sha256").update(`${login}:${password}`).digest("base64url");
}

function md5(...parts: readonly Buffer[]): Buffer {
  const hash = createHash("md5");
  for (const part of parts) hash.update(part);
  return hash.digest();
}
