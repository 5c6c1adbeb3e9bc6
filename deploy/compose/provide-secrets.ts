import { existsSync } from "node:fs";
import { open, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { getCACertificates } from "node:tls";
import type { Environment } from "#kernel/process/config.ts";
import type { KeyPair } from "../provision/issue-certificates.ts";
import { StartupError } from "#kernel/process/startup-error.ts";
import { type Identities, readOrIssueIdentities } from "../provision/identities.ts";
import { type NatsCluster, natsConfiguration } from "../provision/nats-configuration.ts";
import {
  type DatabaseUrls,
  type OperatorSettings,
  readDatabaseUrls,
  readOperatorSettings,
} from "../provision/operator-settings.ts";
import { type Files, programFiles } from "../provision/program-files.ts";
import { readOrMakeSecrets, type Secrets } from "../provision/secrets.ts";
import { type Service, SERVICES } from "../provision/services.ts";
import {
  CLUSTER_MARK,
  DATABASE_PROXY,
  NATS_DATA,
  NATS_LISTEN,
  NATS_MONITOR_PORT,
  NATS_NODES,
  NATS_PORT,
  NATS_ROUTE_PORT,
  NATS_SECRETS,
  POSTGRES_SERVER,
  SIMULATOR_STATE,
  STREAM_REPLICAS_FILE,
} from "./compose-names.ts";

export type Folders = {
  /** Keeps the generated secrets. */
  readonly generated: string;
  /** Holds a folder for every container. */
  readonly volumes: string;
};

const SIMULATOR_CERTIFICATE = "ca.pem";
const PRIVATE_FILE = 0o600;

/** Generates missing secrets and writes the secrets of every container. Safe to repeat: generated secrets stay the same. */
export async function provideSecrets(env: Environment, { generated, volumes }: Folders): Promise<void> {
  const settings = readOperatorSettings(env);
  const databases = readDatabaseUrls(env);
  const trusted = await trustedCertificates(settings, join(volumes, SIMULATOR_STATE));
  const secrets = readOrMakeSecrets(generated);
  const identities = await readOrIssueIdentities(generated);
  const isCluster = existsSync(join(generated, CLUSTER_MARK));
  const servers = {
    proxy: await identities.ofServer({ name: "proxy", hosts: ["localhost", "127.0.0.1", ...settings.apiNames] }),
    nodes: [{ node: NATS_NODES[0], ...identities.broker }, ...(isCluster ? await otherNodes(identities) : [])],
  };
  await writeFiles(volumes, secretFiles({ settings, databases, secrets, identities, trusted, servers, isCluster }));
}

/** The certificate of the simulator was issued before, by a container of its profile. */
async function trustedCertificates({ isSimulated }: OperatorSettings, simulatorState: string): Promise<string> {
  if (!isSimulated) return publicAuthorities();
  const file = join(simulatorState, "simulator", SIMULATOR_CERTIFICATE);
  if (existsSync(file)) return await readFile(file, "utf8");
  throw new StartupError(
    "MT5_URL is not set, and there is no simulator: name a trading platform, or start with COMPOSE_PROFILES=simulator",
  );
}

async function otherNodes(identities: Identities): Promise<(KeyPair & { readonly node: string })[]> {
  const [, ...others] = NATS_NODES;
  const issue = async (node: string): Promise<KeyPair> =>
    await identities.ofServer({ name: node, hosts: [node], isClient: true });
  return await Promise.all(others.map(async (node) => ({ node, ...(await issue(node)) })));
}

/** In PEM. */
function publicAuthorities(): string {
  return `${getCACertificates("default").join("\n")}\n`;
}

type Sources = {
  readonly settings: OperatorSettings;
  readonly databases: DatabaseUrls;
  readonly secrets: Secrets;
  readonly identities: Identities;
  /** PEM of the authorities that the platform trusts. */
  readonly trusted: string;
  readonly servers: {
    readonly proxy: KeyPair;
    readonly nodes: readonly (KeyPair & { readonly node: string })[];
  };
  readonly isCluster: boolean;
};

/** By container. Every container receives the files listed with it, and no others. */
function secretFiles(sources: Sources): Readonly<Record<string, Files>> {
  const { settings, identities, trusted, servers, isCluster } = sources;
  const programs = programFiles({
    ...sources,
    database: isCluster ? DATABASE_PROXY : POSTGRES_SERVER,
    brokers: servers.nodes.map(({ node }) => `${node}:${NATS_PORT}`),
  });
  const natsCa = { "nats-ca.pem": settings.natsUrl === undefined ? identities.ca : publicAuthorities() };
  const certificates = (service: Service): Files => {
    if (service === "edge") return natsCa;
    const { ca, cert, key } = identities.services[service];
    const own = { ...natsCa, "tls-ca.pem": ca, "tls.pem": cert, "tls-key.pem": key };
    return service === "platform" ? { ...own, "ca.pem": trusted } : own;
  };
  const services = SERVICES.map((service) => [service, { ...programs[service], ...certificates(service) }] as const);
  return {
    ...programs,
    ...Object.fromEntries(services),
    "init-streams": {
      ...programs["init-streams"],
      [STREAM_REPLICAS_FILE]: String(servers.nodes.length),
      ...natsCa,
    },
    proxy: {
      "tls.pem": `${servers.proxy.cert.trimEnd()}\n${servers.proxy.key}`,
      "ca.pem": identities.ca,
    },
    ...postgresFiles(sources),
    ...brokerFiles(sources),
  };
}

/** In a cluster each has the password of the role that copies the database; the primary waits for the standby because it has it. */
function postgresFiles({ secrets, isCluster }: Sources): Readonly<Record<string, Files>> {
  const { postgresPassword: password } = secrets;
  if (!isCluster) return { postgres: { password } };
  const both = { password, "replication-password": secrets.replicationPassword() };
  return { postgres: both, "postgres-standby": both };
}

function brokerFiles({ secrets, identities, servers, isCluster }: Sources): Readonly<Record<string, Files>> {
  const tls = { certFile: `${NATS_SECRETS}/tls.pem`, keyFile: `${NATS_SECRETS}/tls-key.pem` };
  const routes = servers.nodes.map(({ node }) => `${node}:${NATS_ROUTE_PORT}`);
  const clusterOf = (node: string): NatsCluster | undefined =>
    isCluster
      ? {
          node,
          listen: `0.0.0.0:${NATS_ROUTE_PORT}`,
          nodes: routes,
          advertise: `${node}:${NATS_ROUTE_PORT}`,
          password: secrets.natsRoutePassword(),
          tls: { ...tls, caFile: `${NATS_SECRETS}/ca.pem` },
        }
      : undefined;
  const files = servers.nodes.map(({ node, cert, key }) => {
    const configuration = natsConfiguration({
      listen: NATS_LISTEN,
      storeDir: NATS_DATA,
      ...secrets.nats,
      tls,
      hasSync: true,
      monitorPort: NATS_MONITOR_PORT,
      cluster: clusterOf(node),
    });
    return [
      node,
      { "nats.conf": configuration, "tls.pem": cert, "tls-key.pem": key, "ca.pem": identities.ca },
    ] as const;
  });
  return Object.fromEntries(files);
}

async function writeFiles(volumes: string, files: Readonly<Record<string, Files>>): Promise<void> {
  for (const [container, content] of Object.entries(files)) {
    const folder = join(volumes, container);
    for (const [name, text] of Object.entries(content)) await writeWhole(join(folder, name), text);
    await sync(folder);
  }
}

/** A container that starts at the same time reads the old text or the new one, never a part. */
async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: PRIVATE_FILE, flush: true });
  await rename(`${path}.new`, path);
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync();
  await handle.close();
}
