import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { generate } from "selfsigned";
import { DAY_MS } from "#kernel/values/duration.ts";
import type { ServiceName } from "#catalogue/services.ts";

/** PEM. */
export type KeyPair = { readonly cert: string; readonly key: string };

/** Kinds of a name in a certificate. */
const DNS_NAME = 2 as const;
const IP_ADDRESS = 7 as const;
const OPTIONS = { keyType: "ec", algorithm: "sha256" } as const;
export const VALID_FOR_MS = 730 * DAY_MS;

/**
 * An authority of one system: what it issues is worth nothing elsewhere. Its name is its own: while both it and the one that replaces it are
 * trusted, a certificate is checked with the one that it names.
 */
export async function makeAuthority(): Promise<KeyPair> {
  const name = `PAMM services ${randomBytes(8).toString("hex")}`;
  const { cert, private: key } = await generate([{ name: "commonName", value: name }], {
    ...OPTIONS,
    notAfterDate: new Date(Date.now() + 5 * VALID_FOR_MS),
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, critical: true },
    ],
  });
  return { cert, key };
}

export type ServerNames = {
  readonly name: string;
  readonly hosts: readonly string[];
  /** Whether it connects to others of its kind with the same certificate, as the nodes of a broker do. */
  readonly isClient?: boolean;
};

/** The certificate of a server that is not a service: clients check that it names the host that they have connected to. */
export async function issueServerCertificate(
  authority: KeyPair,
  { name, hosts, isClient = false }: ServerNames,
): Promise<KeyPair> {
  const altNames = hosts.map((value) => ({ type: isIP(value) === 0 ? DNS_NAME : IP_ADDRESS, value }) as const);
  return await issue(authority, name, [
    { name: "extKeyUsage", serverAuth: true, clientAuth: isClient },
    { name: "subjectAltName", altNames },
  ]);
}

/** The certificate with which a service proves its name, both when it calls and when it is called. */
export async function issueCertificate(authority: KeyPair, name: ServiceName): Promise<KeyPair> {
  return await issue(authority, name, [
    { name: "extKeyUsage", serverAuth: true, clientAuth: true },
    { name: "subjectAltName", altNames: [{ type: DNS_NAME, value: name }] },
  ]);
}

type Extensions = NonNullable<NonNullable<Parameters<typeof generate>[1]>["extensions"]>;

async function issue(authority: KeyPair, name: string, extensions: Extensions): Promise<KeyPair> {
  const { cert, private: key } = await generate([{ name: "commonName", value: name }], {
    ...OPTIONS,
    ca: authority,
    notAfterDate: new Date(Date.now() + VALID_FOR_MS),
    extensions: [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, critical: true },
      ...extensions,
    ],
  });
  return { cert, key };
}
