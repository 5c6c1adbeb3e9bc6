import { generate } from "selfsigned";
import { DAY_MS } from "./duration.ts";
import type { ServiceName } from "./contract/permissions.ts";

/** PEM. */
export type KeyPair = { readonly cert: string; readonly key: string };

const OPTIONS = { keyType: "ec", algorithm: "sha256" } as const;
export const VALID_FOR_MS = 730 * DAY_MS;

/** An authority of one system: what it issues is worth nothing elsewhere. */
export async function makeAuthority(): Promise<KeyPair> {
  const { cert, private: key } = await generate([{ name: "commonName", value: "PAMM services" }], {
    ...OPTIONS,
    notAfterDate: new Date(Date.now() + 5 * VALID_FOR_MS),
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, critical: true },
    ],
  });
  return { cert, key };
}

/** The certificate with which a service proves its name, both when it calls and when it is called. */
export async function issueCertificate(authority: KeyPair, name: ServiceName): Promise<KeyPair> {
  const { cert, private: key } = await generate([{ name: "commonName", value: name }], {
    ...OPTIONS,
    ca: authority,
    notAfterDate: new Date(Date.now() + VALID_FOR_MS),
    extensions: [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, critical: true },
      { name: "extKeyUsage", serverAuth: true, clientAuth: true },
      { name: "subjectAltName", altNames: [{ type: 2, value: name }] },
    ],
  });
  return { cert, key };
}
