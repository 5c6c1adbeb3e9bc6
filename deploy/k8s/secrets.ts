import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { Environment } from "#kernel/process/config.ts";
import { StartupError } from "#kernel/process/startup-error.ts";
import { stringify } from "yaml";
import { ensureCertificate } from "../../services/simulator/webapi/certificate.ts";
import { type NatsCluster, natsConfiguration } from "../provision/nats-configuration.ts";
import { type DatabaseUrls, readDatabaseUrls, readOperatorSettings } from "../provision/operator-settings.ts";
import { type Files, programFiles } from "../provision/program-files.ts";
import { readOrMakeSecrets, secretFolder } from "../provision/secrets.ts";
import { databaseVariable, SERVICES } from "../provision/services.ts";
import { migrationVariable } from "#kernel/postgres/migration.ts";

/** The content of each Secret, by name and file. */
export type SecretFiles = Readonly<Record<string, Files>>;

/** How the manifests call the stores and mount the certificate of the broker. */
const POSTGRES = "postgres:5432";
const BROKER = "nats:4222";
const CERTIFICATE = { certFile: "/run/tls/tls.crt", keyFile: "/run/tls/tls.key" };
const CLUSTER_SIZE = 3;
const ROUTE_PORT = 6222;

/**
 * The Secrets of an overlay. What the environment does not name is generated once and kept in the folder: keep that folder as safe as the
 * database, because the key of the stored passwords is in it.
 */
export async function secretsOf(
  overlay: "dev" | "production",
  { env, folder }: { readonly env: Environment; readonly folder: string },
): Promise<SecretFiles> {
  const settings = readOperatorSettings(env);
  const databases = readDatabaseUrls(env);
  const isDev = overlay === "dev";
  if (!isDev) requireOwn(settings.own.MT5_PASSWORD, databases);
  const secrets = readOrMakeSecrets(folder);
  const { simulator, ...programs } = programFiles({
    // The broker is always that of the manifests.
    settings: { ...settings, natsUrl: undefined },
    databases,
    secrets,
    database: POSTGRES,
    brokers: [BROKER],
  });
  const listen = { listen: "0.0.0.0:4222", storeDir: "/data", tls: CERTIFICATE, hasSync: true };
  const broker = { ...listen, ...secrets.nats, cluster: isDev ? undefined : cluster() };
  const nats = { "nats.conf": natsConfiguration(broker) };
  if (!isDev) {
    const { "api-key": _, ...edge } = programs.edge;
    return { ...programs, edge, nats };
  }
  const certificate = await simulatorCertificate(folder);
  return {
    ...programs,
    platform: { ...programs.platform, "ca.pem": certificate["ca.pem"] },
    nats,
    simulator: { ...simulator, ...certificate },
    postgres: { password: secrets.postgresPassword },
    "init-database": generatedIn(folder),
  };
}

/** In production, Postgres and the trading platform are the operator's. All that is missing, at once. */
function requireOwn(mt5Password: string | undefined, databases: DatabaseUrls): void {
  const missing = SERVICES.flatMap((service) => [
    ...(databases.of(service) === undefined ? [databaseVariable(service)] : []),
    ...(databases.ofOwner(service) === undefined ? [migrationVariable(service)] : []),
  ]);
  if (mt5Password === undefined) missing.push("MT5_PASSWORD");
  if (missing.length > 0) throw new StartupError(missing.map((name) => `${name} is missing`).join("\n"));
}

/** The platform service trusts the certificate before the simulator runs. */
async function simulatorCertificate(folder: string): Promise<{ "ca.pem": string; "tls-key.pem": string }> {
  const state = join(folder, "simulator");
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const { cert, key } = await ensureCertificate(state, []);
  return { "ca.pem": cert, "tls-key.pem": key };
}

/** The Job that creates the roles reads the passwords as Compose keeps them. */
function generatedIn(folder: string): Files {
  const secrets = secretFolder(folder);
  return Object.fromEntries(readdirSync(secrets).map((name) => [name, readFileSync(join(secrets, name), "utf8")]));
}

/** Servers prove their names to each other by their certificates. */
function cluster(): NatsCluster {
  const nodes = Array.from({ length: CLUSTER_SIZE }, (_, index) => `nats-${index}.nats:${ROUTE_PORT}`);
  const tls = { ...CERTIFICATE, caFile: "/run/tls/ca.crt" };
  return { node: "$POD_NAME", listen: `0.0.0.0:${ROUTE_PORT}`, nodes, tls };
}

/** As objects of Kubernetes. */
export function secretManifests(files: SecretFiles, namespace: string): string {
  return Object.entries(files)
    .map(([name, stringData]) =>
      stringify({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, namespace, labels: { "app.kubernetes.io/part-of": "pamm" } },
        stringData,
      }),
    )
    .join("---\n");
}

if (import.meta.main) {
  const [overlay, folder] = process.argv.slice(2);
  if ((overlay !== "dev" && overlay !== "production") || folder === undefined) {
    process.stderr.write("usage: node deploy/k8s/secrets.ts dev|production FOLDER | kubectl apply -f -\n");
    process.exit(2);
  }
  try {
    process.stdout.write(secretManifests(await secretsOf(overlay, { env: process.env, folder }), "pamm"));
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
