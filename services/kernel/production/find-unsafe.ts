import type { Environment } from "../process/config.ts";
import { Secret } from "../values/secret.ts";
import { findUnknown } from "#catalogue/variables.ts";

/** What a service was configured with, by the names of its variables. */
export type Configured = Readonly<Record<string, unknown>>;

/** A key of random bytes has some 30 different ones of 32. */
const MIN_DIFFERENT_BYTES = 16;
const GUESSED = new Set([
  "",
  "admin",
  "changeme",
  "change-me",
  "default",
  "pamm",
  "password",
  "postgres",
  "secret",
  "test",
]);

/** Each reason for which a service must not move real money with this configuration, as one line. A line contains no value. */
export function findUnsafe(config: Configured, env: Environment): string[] {
  return [
    ...switchReasons(config),
    ...Object.entries(config).flatMap(([name, value]) =>
      secretsOf(value).flatMap((secret) => secretReasons(name, secret)),
    ),
    ...sharedSecrets(config),
    ...findUnknown(env).map((name) => `${name} is not a variable of this service: correct or remove it`),
  ];
}

function switchReasons(config: Configured): string[] {
  const reasons = [];
  if (config["PAMM_REHEARSAL"] === true) reasons.push("PAMM_REHEARSAL is true: remove it");
  if (config["PAMM_FAILPOINTS"] !== undefined) reasons.push("PAMM_FAILPOINTS makes the process kill itself: remove it");
  if (config["PAMM_MIGRATE"] !== "check") {
    reasons.push(
      "PAMM_MIGRATE is not check: migrate in a process of its own, with PAMM_MIGRATE=apply, and serve with check",
    );
  }
  for (const [name, value] of Object.entries(config)) {
    if (name.endsWith("_MIGRATION_URL") && value !== undefined) {
      reasons.push(`${name} is the owner of the tables: give it only to the process that migrates`);
    }
  }
  if (config["PAMM_BOOTSTRAP_API_KEY"] !== undefined) {
    reasons.push(
      "PAMM_BOOTSTRAP_API_KEY has every scope and no person: create keys with the keys command, and remove it",
    );
  }
  return reasons;
}

function secretReasons(name: string, secret: string | Buffer): string[] {
  if (typeof secret !== "string") {
    return new Set(secret).size < MIN_DIFFERENT_BYTES
      ? [`${name} is not random: generate it (openssl rand -base64 32)`]
      : [];
  }
  if (!secret.includes("://")) return GUESSED.has(secret.toLowerCase()) ? [`${name} is a default: choose another`] : [];
  // Of several servers of a broker, the first address has the user.
  const [first, ...others] = secret.split(",").map((address) => new URL(address.trim()));
  const plain = others.some(({ protocol }) => protocol === "nats:") ? [`${name} is not encrypted: use tls://`] : [];
  return first === undefined ? [] : [...urlReasons(name, first), ...plain];
}

function urlReasons(name: string, { protocol, username, password, searchParams }: URL): string[] {
  const reasons = [];
  const secret = decodeURIComponent(password).toLowerCase();
  if (protocol === "nats:") reasons.push(`${name} is not encrypted: use tls://`);
  if (protocol.startsWith("postgres") && searchParams.get("sslmode") !== "verify-full") {
    reasons.push(`${name} is not encrypted, or its server is not verified: add sslmode=verify-full`);
  }
  if (username === "") reasons.push(`${name} names no user: each service has its own`);
  else if (GUESSED.has(secret) || secret === decodeURIComponent(username).toLowerCase()) {
    reasons.push(`${name} has a default password: choose another`);
  }
  return reasons;
}

/** A person who learns one of two equal secrets has both. */
function sharedSecrets(config: Configured): string[] {
  const named = Object.entries(config).flatMap(([name, value]) =>
    secretsOf(value).flatMap((secret) => passwordsOf(secret).map((password) => ({ name, password }))),
  );
  const bySecret = Map.groupBy(named, ({ password }) => password);
  return [...bySecret.values()]
    .map((uses) => [...new Set(uses.map(({ name }) => name))])
    .filter((names) => names.length > 1)
    .map((names) => `${names.join(" and ")} share one secret: give each its own`);
}

function passwordsOf(secret: string | Buffer): string[] {
  if (typeof secret !== "string") return [secret.toString("base64")];
  if (!secret.includes("://")) return [secret];
  return secret
    .split(",")
    .slice(0, 1)
    .flatMap((address) => new URL(address.trim()).password || []);
}

function secretsOf(value: unknown): (string | Buffer)[] {
  if (Array.isArray(value)) return value.flatMap(secretsOf);
  if (!(value instanceof Secret)) return [];
  const secret: unknown = value.reveal();
  return typeof secret === "string" || Buffer.isBuffer(secret) ? [secret] : [];
}
