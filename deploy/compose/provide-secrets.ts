import { mkdir, open, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { getCACertificates } from "node:tls";
import type { Environment } from "#kernel/config.ts";
import { ownerUrl, serviceUrl } from "../local/database.ts";
import { type Identities, readOrIssueIdentities } from "../local/identities.ts";
import { readOrMakeSecrets, type Secrets } from "../local/secrets.ts";
import { type Service, SERVICES } from "../local/settings.ts";
import { natsConfiguration, natsUrl } from "../local/nats.ts";
import { ensureCertificate } from "../../services/simulator/webapi/certificate.ts";
import {
  migrationFile,
  NATS_DATA,
  NATS_LISTEN,
  NATS_SECRETS,
  NATS_SERVER,
  NATS_SETUP_FILE,
  POSTGRES_SERVER,
  SIMULATOR_STATE,
} from "./compose-names.ts";
import {
  type DatabaseUrls,
  type OperatorSettings,
  readDatabaseUrls,
  readOperatorSettings,
} from "./operator-settings.ts";

export type Folders = {
  /** Keeps the generated secrets. */
  readonly generated: string;
  /** Holds a folder for every container. */
  readonly volumes: string;
};

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/** Generates missing secrets and writes the secrets of every container. Safe to repeat: generated secrets stay the same. */
export async function provideSecrets(env: Environment, { generated, volumes }: Folders): Promise<void> {
  const settings = readOperatorSettings(env);
  const databases = readDatabaseUrls(env);
  await mkdir(join(generated, "secret"), { recursive: true, mode: PRIVATE_FOLDER });
  const secrets = readOrMakeSecrets(generated);
  const identities = await readOrIssueIdentities(generated);
  const trusted = await trustedCertificates(settings, join(volumes, SIMULATOR_STATE));
  await writeFiles(volumes, secretFiles({ settings, databases, secrets, identities, trusted }));
}

/** The simulator uses an existing certificate, so the platform can trust it before the simulator runs. */
async function trustedCertificates(
  { isSimulated, tlsNames }: OperatorSettings,
  simulatorState: string,
): Promise<string> {
  if (!isSimulated) return publicAuthorities();
  const folder = join(simulatorState, "simulator");
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  return (await ensureCertificate(folder, tlsNames)).cert;
}

/** In PEM. */
function publicAuthorities(): string {
  return `${getCACertificates("default").join("\n")}\n`;
}

/** Texts by container and file name. */
type Files = Readonly<Record<string, Readonly<Record<string, string>>>>;

type Sources = {
  readonly settings: OperatorSettings;
  readonly databases: DatabaseUrls;
  readonly secrets: Secrets;
  readonly identities: Identities;
  /** PEM of the authorities that the platform trusts. */
  readonly trusted: string;
};

/** Every container receives the files listed with it, and no others. */
function secretFiles({ settings, databases, secrets, identities, trusted }: Sources): Files {
  const encryptionKey = settings.encryptionKey ?? secrets.encryptionKey;
  const mt5Password = settings.mt5Password ?? secrets.mt5Password;
  const own: Partial<Record<Service, Record<string, string>>> = {
    account: { "encryption-key": encryptionKey },
    edge: { "api-key-pepper": settings.pepper ?? secrets.pepper, "api-key": settings.apiKey ?? secrets.apiKey },
    platform: { "mt5-password": mt5Password, "ca.pem": trusted },
  };
  const natsCa = settings.natsUrl === undefined ? identities.ca : publicAuthorities();
  const natsSetupUrl =
    settings.natsUrl === undefined
      ? natsUrl(NATS_SERVER, { password: secrets.natsPassword, isTls: true })
      : (settings.natsSetupUrl ?? "");
  const natsAddress = (service: Service): string =>
    settings.natsUrl ?? natsUrl(NATS_SERVER, { user: service, password: secrets.natsPasswordOf(service), isTls: true });
  const identity = (service: Service): Record<string, string> => {
    if (service === "edge") return {};
    const { ca, cert, key } = identities.services[service];
    return { "tls-ca.pem": ca, "tls.pem": cert, "tls-key.pem": key };
  };
  const services = SERVICES.map((service) => {
    const local = serviceUrl(POSTGRES_SERVER, service, secrets.databasePasswordOf(service));
    return [
      service,
      {
        "database-url": databases.of(service) ?? local,
        "nats-url": natsAddress(service),
        "nats-ca.pem": natsCa,
        ...identity(service),
        ...own[service],
      },
    ] as const;
  });
  // Empty for a database of the operator who migrates it.
  const migrationUrlOf = (service: Service): string => {
    if (databases.of(service) !== undefined) return databases.ofOwner(service) ?? "";
    return ownerUrl(POSTGRES_SERVER, service, secrets.ownerPasswordOf(service));
  };
  const { natsPassword: password, natsPasswordOf: passwordOf } = secrets;
  const tls = { certFile: `${NATS_SECRETS}/tls.pem`, keyFile: `${NATS_SECRETS}/tls-key.pem` };
  const broker = { listen: NATS_LISTEN, storeDir: NATS_DATA, password, passwordOf, tls, hasSync: true };
  return {
    ...Object.fromEntries(services),
    migrate: Object.fromEntries(SERVICES.map((service) => [migrationFile(service), migrationUrlOf(service)])),
    "init-streams": { [NATS_SETUP_FILE]: natsSetupUrl, "nats-ca.pem": natsCa },
    simulator: { "mt5-password": mt5Password },
    postgres: { password: secrets.postgresPassword },
    nats: {
      "nats.conf": natsConfiguration(broker),
      "tls.pem": identities.broker.cert,
      "tls-key.pem": identities.broker.key,
    },
  };
}

async function writeFiles(volumes: string, files: Files): Promise<void> {
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
