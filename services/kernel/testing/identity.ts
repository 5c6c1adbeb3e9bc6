import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type Contract, methodsOf, type Permissions } from "../contract/contract.ts";
import { SERVICE_NAMES, type ServiceName } from "#catalogue/services.ts";
import type { Identity } from "../certificates/identity.ts";
import { issueCertificate, type KeyPair, makeAuthority } from "../../../deploy/provision/issue-certificates.ts";

let authority: Promise<KeyPair> | undefined;
const identities = new Map<ServiceName, Promise<Identity>>();

/** The identity of a service, issued by the one authority of this test process. */
export function testIdentity(name: ServiceName): Promise<Identity> {
  const known = identities.get(name) ?? issue(name);
  identities.set(name, known);
  return known;
}

async function issue(name: ServiceName): Promise<Identity> {
  authority ??= makeAuthority();
  const issuer = await authority;
  return { name, ca: issuer.cert, ...(await issueCertificate(issuer, name)) };
}

/** The variables of a process that is started as this service. Their files are removed when the test process ends. */
export async function identityVariables(name: ServiceName): Promise<Record<string, string>> {
  const { ca, cert, key } = await testIdentity(name);
  const folder = mkdtempSync(join(tmpdir(), "pamm-identity-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const write = (file: string, text: string): string => {
    writeFileSync(join(folder, file), text, { mode: 0o600 });
    return join(folder, file);
  };
  return {
    PAMM_TLS_CA_FILE: write("ca.pem", ca),
    PAMM_TLS_CERT_FILE: write("cert.pem", cert),
    PAMM_TLS_KEY_FILE: write("key.pem", key),
  };
}

/** For tests of the transports: every service may use every method. */
export function permitAll<C extends Contract>(contract: C): Permissions<C> {
  return Object.fromEntries(methodsOf(contract).map(({ name }) => [name, SERVICE_NAMES])) as unknown as Permissions<C>;
}
