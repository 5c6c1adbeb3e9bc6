import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { generate } from "selfsigned";
import { writeWhole } from "../store/folder.ts";

export type Certificate = {
  /** What clients trust, PEM. */
  readonly ca: string;
  readonly key: string;
  /** The server's certificate and the authority's behind it. */
  readonly cert: string;
};

const DEFAULT_NAMES = ["localhost", "127.0.0.1", "::1", "simulator"];
const YEAR_MS = 365 * 86_400_000;
const AUTHORITY_YEARS = 10;
const SECRET_MODE = 0o600;

type KeyPair = { readonly key: string; readonly cert: string };

/** An authority that lives as long as the folder, and a fresh certificate of the server for the names of today. */
export async function ensureCertificate(folder: string, extraNames: readonly string[]): Promise<Certificate> {
  await mkdir(folder, { recursive: true });
  const authority = (await readAuthority(folder)) ?? (await createAuthority(folder));
  const names = [...new Set([...DEFAULT_NAMES, ...extraNames])];
  const issued = await generate([{ name: "commonName", value: "simulator" }], {
    keyType: "ec",
    algorithm: "sha256",
    notAfterDate: new Date(Date.now() + YEAR_MS),
    ca: authority,
    extensions: [
      { name: "basicConstraints", cA: false },
      { name: "keyUsage", digitalSignature: true },
      { name: "extKeyUsage", serverAuth: true },
      { name: "subjectAltName", altNames: names.map(altName) },
    ],
  });
  return { ca: authority.cert, key: issued.private, cert: `${issued.cert.trim()}\n${authority.cert}` };
}

async function readAuthority(folder: string): Promise<KeyPair | undefined> {
  try {
    const key = await readFile(join(folder, "ca-key.pem"), "utf8");
    const cert = await readFile(join(folder, "ca.pem"), "utf8");
    const authority = new X509Certificate(cert);
    const isFresh = authority.validToDate.getTime() > Date.now() + YEAR_MS;
    return isFresh && authority.checkPrivateKey(createPrivateKey(key)) ? { key, cert } : undefined;
  } catch {
    return undefined;
  }
}

async function createAuthority(folder: string): Promise<KeyPair> {
  const { private: key, cert } = await generate([{ name: "commonName", value: "PAMM simulator authority" }], {
    keyType: "ec",
    algorithm: "sha256",
    notAfterDate: new Date(Date.now() + AUTHORITY_YEARS * YEAR_MS),
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, critical: true },
    ],
  });
  await writeWhole(join(folder, "ca-key.pem"), key, SECRET_MODE);
  await writeWhole(join(folder, "ca.pem"), cert);
  return { key, cert };
}

function altName(name: string): { type: 2; value: string } | { type: 7; ip: string } {
  return isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name };
}
