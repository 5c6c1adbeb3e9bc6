import { serviceUrl } from "../local/database.ts";
import { natsConfiguration, natsUrl } from "../local/nats.ts";
import type { Secrets } from "../local/secrets.ts";
import { type Service, SERVICES } from "../local/settings.ts";
import type { Given, GivenDatabases } from "./given.ts";
import { NATS_DATA, NATS_LISTEN, NATS_SERVER, POSTGRES_SERVER } from "./places.ts";

/** By container, and there by name. */
export type Files = Readonly<Record<string, Readonly<Record<string, string>>>>;

export type Sources = {
  readonly given: Given;
  readonly databases: GivenDatabases;
  readonly made: Secrets;
  /** PEM of whom the platform trusts. */
  readonly trusted: string;
};

/** What each container is told; what is not listed with it, it never sees. */
export function secretFiles({ given, databases, made, trusted }: Sources): Files {
  const encryptionKey = given.encryptionKey ?? made.encryptionKey;
  const mt5Password = given.mt5Password ?? made.mt5Password;
  const own: Partial<Record<Service, Record<string, string>>> = {
    account: { "encryption-key": encryptionKey },
    edge: { "encryption-key": encryptionKey, "api-key": given.apiKey ?? made.apiKey },
    platform: { "mt5-password": mt5Password, "ca.pem": trusted },
  };
  const natsAddress = given.natsUrl ?? natsUrl(NATS_SERVER, made.natsPassword);
  const services = SERVICES.map((service) => {
    const made_ = serviceUrl(POSTGRES_SERVER, service, made.databasePasswordOf(service));
    return [
      service,
      { "database-url": databases(service) ?? made_, "nats-url": natsAddress, ...own[service] },
    ] as const;
  });
  const broker = { listen: NATS_LISTEN, storeDir: NATS_DATA, password: made.natsPassword, hasSync: true };
  return {
    ...Object.fromEntries(services),
    simulator: { "mt5-password": mt5Password },
    postgres: { password: made.postgresPassword },
    nats: { "nats.conf": natsConfiguration(broker) },
  };
}
