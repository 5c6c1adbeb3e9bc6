import { createPrivateKey, X509Certificate } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { DAY_MS } from "#kernel/values/duration.ts";
import {
  issueCertificate,
  issueServerCertificate,
  type KeyPair,
  makeAuthority,
  type ServerNames,
} from "./issue-certificates.ts";
import type { ServerCertificate } from "./nats-configuration.ts";
import { secretFolder, writeSecret } from "./secrets.ts";
import { LOOPBACK, type Service, SERVICES } from "./services.ts";

/** Texts in PEM. */
export type IdentityFiles = { readonly ca: string; readonly cert: string; readonly key: string };
/** The services that call others or are called over gRPC. */
export type IdentifiedService = Exclude<Service, "edge">;
export type Identities = {
  readonly ca: string;
  readonly services: Readonly<Record<IdentifiedService, IdentityFiles>>;
  readonly broker: KeyPair;
  /** Issued when it is asked for: of the proxy, or of a node of a cluster. */
  readonly ofServer: (server: ServerNames) => Promise<KeyPair>;
};

/** A certificate is issued again this long before it ends, with the next start. */
const RENEWED_BEFORE_MS = 90 * DAY_MS;
export const IDENTIFIED = SERVICES.filter((service): service is IdentifiedService => service !== "edge");

const BROKER = "nats";
/** Under which services connect to the broker: the container of this name, or a process of this machine. */
const BROKER_HOSTS = [BROKER, "localhost", LOOPBACK];

/** The certificates of the services and of the broker, issued by an authority of this system. Kept in the state folder, for the owner only; issued again when they are about to end. */
export async function readOrIssueIdentities(stateDir: string): Promise<Identities> {
  const folder = identityFolder(stateDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const authority = await readOrMake(folder, "ca", makeAuthority);
  const issued: [IdentifiedService, IdentityFiles][] = [];
  for (const service of IDENTIFIED) {
    const own = await readOrMake(folder, service, () => issueCertificate(authority, service), { issuer: authority });
    issued.push([service, { ca: authority.cert, ...own }]);
  }
  const ofServer = async (server: ServerNames): Promise<KeyPair> =>
    await readOrMake(folder, server.name, () => issueServerCertificate(authority, server), {
      issuer: authority,
      hosts: server.hosts,
    });
  return {
    ca: authority.cert,
    services: Object.fromEntries(issued) as Identities["services"],
    broker: await ofServer({ name: BROKER, hosts: BROKER_HOSTS, isClient: true }),
    ofServer,
  };
}

/** Of a broker that runs on this machine. */
export function brokerCertificate(stateDir: string): ServerCertificate & { readonly caFile: string } {
  const file = (name: string): string => join(identityFolder(stateDir), name);
  return { certFile: file(`${BROKER}.pem`), keyFile: file(`${BROKER}-key.pem`), caFile: file("ca.pem") };
}

/** Where a process of this machine reads its certificate. */
export function identityVariables(stateDir: string, service: Service): NodeJS.ProcessEnv {
  if (service === "edge") return {};
  const file = (name: string): string => join(identityFolder(stateDir), name);
  return {
    PAMM_TLS_CA_FILE: file("ca.pem"),
    PAMM_TLS_CERT_FILE: file(`${service}.pem`),
    PAMM_TLS_KEY_FILE: file(`${service}-key.pem`),
  };
}

function identityFolder(stateDir: string): string {
  return join(secretFolder(stateDir), "tls");
}

/** Of a certificate that was issued before. */
type Expected = { readonly issuer?: KeyPair; readonly hosts?: readonly string[] };

async function readOrMake(
  folder: string,
  name: string,
  make: () => Promise<KeyPair>,
  expected: Expected = {},
): Promise<KeyPair> {
  const files = [`${name}.pem`, `${name}-key.pem`] as const;
  const [cert, key] = files
    .map((file) => join(folder, file))
    .map((file) => (existsSync(file) ? readFileSync(file, "utf8") : ""));
  if (cert !== undefined && key !== undefined && isUsable({ cert, key }, expected)) return { cert, key };
  const made = await make();
  writeSecret(folder, files[1], made.key);
  writeSecret(folder, files[0], made.cert);
  return made;
}

/** A crash between the two writes leaves a key and a certificate that do not belong together. */
function isUsable({ cert, key }: KeyPair, { issuer, hosts = [] }: Expected): boolean {
  try {
    const parsed = new X509Certificate(cert);
    const isIssued = issuer === undefined || parsed.verify(new X509Certificate(issuer.cert).publicKey);
    const isNamed = (host: string): boolean =>
      (isIP(host) === 0 ? parsed.checkHost(host) : parsed.checkIP(host)) !== undefined;
    return (
      isIssued &&
      hosts.every(isNamed) &&
      parsed.checkPrivateKey(createPrivateKey(key)) &&
      parsed.validToDate.getTime() > Date.now() + RENEWED_BEFORE_MS
    );
  } catch {
    return false;
  }
}
