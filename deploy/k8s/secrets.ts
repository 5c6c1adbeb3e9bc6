import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { Environment } from "#kernel/config.ts";
import { StartupError } from "#kernel/startup-error.ts";
import { stringify } from "yaml";
import { ensureCertificate } from "../../services/simulator/webapi/certificate.ts";
import { migrationFile } from "../compose/compose-names.ts";
import { readDatabaseUrls, readOperatorSettings } from "../compose/operator-settings.ts";
import { ownerUrl, serviceUrl } from "../provision/database.ts";
import { type NatsCluster, natsConfiguration, natsUrl } from "../provision/nats-configuration.ts";
import { readOrMakeSecrets } from "../provision/secrets.ts";
import { databaseVariable, type Service, SERVICES } from "../provision/services.ts";
import { migrationVariable } from "#kernel/migration.ts";

/** The content of each Secret, by name and file. */
export type SecretFiles = Readonly<Record<string, Readonly<Record<string, string>>>>;

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
  if (!isDev) requireOwn(settings.mt5Password, databases);
  mkdirSync(join(folder, "secret"), { recursive: true, mode: 0o700 });
  const secrets = readOrMakeSecrets(folder);
  const mt5Password = settings.mt5Password ?? secrets.mt5Password;
  const simulator = isDev ? await simulatorCertificate(folder) : undefined;
  const own: Partial<Record<Service, Record<string, string>>> = {
    account: { "encryption-key": settings.encryptionKey ?? secrets.encryptionKey },
    edge: {
      "api-key-pepper": settings.pepper ?? secrets.pepper,
      "webhook-key": settings.webhookKey ?? secrets.webhookKey,
      ...(isDev ? { "api-key": settings.apiKey ?? secrets.apiKey } : {}),
    },
    platform: { "mt5-password": mt5Password, ...(simulator === undefined ? {} : { "ca.pem": simulator["ca.pem"] }) },
  };
  const services = SERVICES.map((service) => {
    const database = databases.of(service) ?? serviceUrl(POSTGRES, service, secrets.databasePasswordOf(service));
    const broker = natsUrl(BROKER, { user: service, password: secrets.natsPasswordOf(service), isTls: true });
    return [service, { "database-url": database, "nats-url": broker, ...own[service] }] as const;
  });
  const owners = SERVICES.map((service) => {
    const url = databases.ofOwner(service) ?? ownerUrl(POSTGRES, service, secrets.ownerPasswordOf(service));
    return [migrationFile(service), url] as const;
  });
  const setupUrl = natsUrl(BROKER, { password: secrets.natsPassword, isTls: true });
  const { natsPassword: password, natsPasswordOf: passwordOf } = secrets;
  const listen = { listen: "0.0.0.0:4222", storeDir: "/data", tls: CERTIFICATE, hasSync: true };
  const broker = { ...listen, password, passwordOf, cluster: isDev ? undefined : cluster() };
  return {
    ...Object.fromEntries(services),
    migrate: Object.fromEntries(owners),
    "init-streams": { "nats-setup-url": setupUrl },
    nats: { "nats.conf": natsConfiguration(broker) },
    ...(simulator === undefined
      ? {}
      : {
          simulator: { "mt5-password": mt5Password, ...simulator },
          postgres: { password: secrets.postgresPassword },
          "init-database": generatedIn(folder),
        }),
  };
}

/** In production, Postgres and the trading platform are the operator's. All that is missing, at once. */
function requireOwn(mt5Password: string | undefined, databases: ReturnType<typeof readDatabaseUrls>): void {
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
function generatedIn(folder: string): Readonly<Record<string, string>> {
  const secrets = join(folder, "secret");
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
