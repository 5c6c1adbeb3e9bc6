import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { generate } from "selfsigned";
import { DAY_MS } from "#kernel/values/duration.ts";
import { writeWhole } from "../store/folder.ts";

/** PEM. The certificate is self-signed: clients that trust this file trust this server only. */
export type Certificate = { readonly key: string; readonly cert: string };

export const CERTIFICATE_FILE = "ca.pem";
const KEY_FILE = "tls-key.pem";
const KEY_MODE = 0o600;

const DEFAULT_NAMES = ["localhost", "127.0.0.1", "::1", "simulator"];
const YEAR_MS = 365 * DAY_MS;
/** Long, because clients trust the file: after a renewal each of them needs the new one. */
const YEARS = 10;

/** Created once for the folder, and again when it is about to expire or the names have changed. */
export async function ensureCertificate(folder: string, extraNames: readonly string[]): Promise<Certificate> {
  const names = [...new Set([...DEFAULT_NAMES, ...extraNames])];
  const stored = await readCertificate(folder);
  return stored !== undefined && isUsable(stored, names) ? stored : createCertificate(folder, names);
}

async function readCertificate(folder: string): Promise<Certificate | undefined> {
  try {
    const key = await readFile(join(folder, KEY_FILE), "utf8");
    return { key, cert: await readFile(join(folder, CERTIFICATE_FILE), "utf8") };
  } catch {
    return undefined;
  }
}

function isUsable({ key, cert }: Certificate, names: readonly string[]): boolean {
  try {
    const parsed = new X509Certificate(cert);
    const isNamed = (name: string): boolean =>
      (isIP(name) === 0 ? parsed.checkHost(name) : parsed.checkIP(name)) !== undefined;
    // A crash between the two writes leaves a key and a certificate that do not belong together.
    const isPair = parsed.checkPrivateKey(createPrivateKey(key));
    return isPair && parsed.validToDate.getTime() > Date.now() + YEAR_MS && names.every(isNamed);
  } catch {
    return false;
  }
}

async function createCertificate(folder: string, names: readonly string[]): Promise<Certificate> {
  const { private: key, cert } = await generate([{ name: "commonName", value: "simulator" }], {
    keyType: "ec",
    algorithm: "sha256",
    notAfterDate: new Date(Date.now() + YEARS * YEAR_MS),
    extensions: [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      { name: "subjectAltName", altNames: names.map(altName) },
    ],
  });
  await writeWhole(join(folder, KEY_FILE), key, KEY_MODE);
  await writeWhole(join(folder, CERTIFICATE_FILE), cert);
  return { key, cert };
}

function altName(name: string): { type: 2; value: string } | { type: 7; ip: string } {
  return isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name };
}
