import { randomBytes } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";

export type Secrets = {
  readonly encryptionKey: string;
  /** Of the hashes of API keys. */
  readonly pepper: string;
  readonly pepperFile: string;
  /** Of the secrets of webhooks. */
  readonly webhookKey: string;
  readonly apiKey: string;
  readonly mt5Password: string;
  /** Of the user who may do everything; each service has its own user. */
  readonly natsPassword: string;
  readonly natsPasswordOf: (service: string) => string;
  /** Between the nodes of a cluster. */
  readonly natsRoutePassword: () => string;
  /** Of the superuser; each service has its own password, and the owner of its schema another one. */
  readonly postgresPassword: string;
  readonly databasePasswordOf: (service: string) => string;
  readonly ownerPasswordOf: (service: string) => string;
  /** Of the role that copies the database to a standby. */
  readonly replicationPassword: () => string;
};

const PEPPER = "api-key-pepper";

/** Generated once and kept in the state folder, with the data that they protect, for the owner only. */
export function readOrMakeSecrets(stateDir: string): Secrets {
  const folder = join(stateDir, "secret");
  return {
    encryptionKey: readOrMake(folder, "encryption-key", randomKey),
    pepper: readOrMake(folder, PEPPER, randomKey),
    pepperFile: join(folder, PEPPER),
    webhookKey: readOrMake(folder, "webhook-key", randomKey),
    apiKey: readOrMake(folder, "api-key", () => `pamm_dev_${random()}`),
    // The trading platform requires upper and lower case letters and digits in every password.
    mt5Password: readOrMake(folder, "mt5-password", () => `Mt5${random()}`),
    natsPassword: readOrMake(folder, "nats-password", random),
    natsPasswordOf: (service) => readOrMake(folder, `nats-password-${service}`, random),
    natsRoutePassword: () => readOrMake(folder, "nats-route-password", random),
    postgresPassword: readOrMake(folder, "postgres-password", random),
    databasePasswordOf: (service) => readOrMake(folder, `postgres-password-${service}`, random),
    ownerPasswordOf: (service) => readOrMake(folder, `postgres-password-${service}-owner`, random),
    replicationPassword: () => readOrMake(folder, "postgres-replication-password", random),
  };
}

function randomKey(): string {
  return randomBytes(32).toString("base64");
}

/** Hexadecimal digits need no escaping in an address. */
function random(): string {
  return randomBytes(24).toString("hex");
}

/** Written to disk before its first use: without the encryption key, the passwords encrypted with it are lost. */
function readOrMake(folder: string, name: string, make: () => string): string {
  const file = join(folder, name);
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  const value = make();
  writeSecret(folder, name, `${value}\n`);
  return value;
}

/** Whole or not at all, for the owner only. */
export function writeSecret(folder: string, name: string, text: string): void {
  const file = join(folder, name);
  const draft = openSync(`${file}.new`, "w", 0o600);
  writeSync(draft, text);
  fsyncSync(draft);
  closeSync(draft);
  renameSync(`${file}.new`, file);
  const directory = openSync(folder, "r");
  fsyncSync(directory);
  closeSync(directory);
}
