import { randomBytes } from "node:crypto";
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { secret, secretKey, type Variable } from "#kernel/process/config-variables.ts";
import type { Secret } from "#kernel/values/secret.ts";
import type { Service } from "./services.ts";

export type Program = Service | "simulator";

type OwnSecret = {
  /** Keeps the generated value, and delivers it where programs read secrets from files. */
  readonly file: string;
  readonly of: readonly Program[];
  /** Of the value that an operator sets instead. */
  readonly form: Variable<Secret<Buffer | string>>;
  readonly make: () => string;
};

const A_KEY = { form: secretKey(), make: randomKey };

const TABLE = {
  PAMM_ENCRYPTION_KEY: { ...A_KEY, file: "encryption-key", of: ["account"] },
  /** Of the hashes of API keys. */
  PAMM_API_KEY_PEPPER: { ...A_KEY, file: "api-key-pepper", of: ["edge"] },
  /** Of the secrets of webhooks. */
  PAMM_WEBHOOK_KEY: { ...A_KEY, file: "webhook-key", of: ["edge"] },
  PAMM_BOOTSTRAP_API_KEY: { form: secret("a key"), make: () => `pamm_dev_${random()}`, file: "api-key", of: ["edge"] },
  MT5_PASSWORD: {
    form: secret("the manager's API password"),
    // The trading platform requires upper and lower case letters and digits in every password.
    make: () => `Mt5${random()}`,
    file: "mt5-password",
    of: ["platform", "simulator"],
  },
} satisfies Record<string, OwnSecret>;

export type SecretVariable = keyof typeof TABLE;
/** What programs know beside the URLs of their stores, by the variable that has it. */
export const OWN_SECRETS: Readonly<Record<SecretVariable, OwnSecret>> = TABLE;
export const SECRET_VARIABLES = Object.keys(TABLE) as SecretVariable[];

export type Secrets = {
  readonly own: Readonly<Record<SecretVariable, string>>;
  /** Of the user of the broker who may do everything, and of each service. */
  readonly nats: { readonly password: string; readonly passwordOf: (service: string) => string };
  /** Between the nodes of a cluster. */
  readonly natsRoutePassword: () => string;
  /** Of the superuser; each service has its own password, and the owner of its schema another one. */
  readonly postgresPassword: string;
  readonly databasePasswordOf: (service: string) => string;
  readonly ownerPasswordOf: (service: string) => string;
  /** Of the role that copies the database to a standby. */
  readonly replicationPassword: () => string;
};

/** Generated once and kept in the state folder, with the data that they protect, for the owner only. */
export function readOrMakeSecrets(stateDir: string): Secrets {
  const folder = secretFolder(stateDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const kept = (name: string, make = random): string => readOrMake(folder, name, make);
  const own = Object.entries(TABLE).map(([variable, { file, make }]) => [variable, kept(file, make)] as const);
  return {
    own: Object.fromEntries(own) as Secrets["own"],
    nats: { password: kept("nats-password"), passwordOf: (service) => kept(`nats-password-${service}`) },
    natsRoutePassword: () => kept("nats-route-password"),
    postgresPassword: kept("postgres-password"),
    databasePasswordOf: (service) => kept(`postgres-password-${service}`),
    ownerPasswordOf: (service) => kept(`postgres-password-${service}-owner`),
    replicationPassword: () => kept("postgres-replication-password"),
  };
}

export function secretFolder(stateDir: string): string {
  return join(stateDir, "secret");
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
