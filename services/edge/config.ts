import { BACKBONE_SETTINGS } from "#kernel/process/backbone.ts";
import {
  flag,
  integer,
  optional,
  variable,
  port,
  secretKey,
  text,
  timeZone,
} from "#kernel/process/config-variables.ts";
import { databaseUrl, migrationUrl } from "#kernel/postgres/migration.ts";
import { Secret } from "#kernel/values/secret.ts";
import { isAddressOrNetwork } from "./identity/keys/addresses.ts";
import { EDGE_RETENTION } from "./retention.ts";

const VISIBLE_ASCII = /^[\x21-\x7e]{16,200}$/;

/** After a pause a burst of twice as many is accepted. */
const perSecond = (whenMissing: string) => integer(1, 1_000_000, { whenMissing });
const inProgress = (whenMissing: string) => integer(1, 10_000, { whenMissing });

export const settings = {
  EDGE_DATABASE_URL: databaseUrl(),
  EDGE_DATABASE_MIGRATION_URL: optional(migrationUrl()),
  ...BACKBONE_SETTINGS,
  PAMM_METRICS_PORT: port({ whenMissing: "9090" }),
  PAMM_HTTP_HOST: text("an address to listen on", { whenMissing: "127.0.0.1" }),
  PAMM_HTTP_PORT: port({ whenMissing: "8080" }),
  /** The console, the documentation and the API document. */
  PAMM_SERVE_PAGES: flag({ whenMissing: "true" }),
  PAMM_BOOTSTRAP_API_KEY: optional(
    variable(
      "16 to 200 visible ASCII characters",
      (value) => (VISIBLE_ASCII.test(value) ? new Secret(value) : undefined),
      { isSecret: true },
    ),
  ),
  ...EDGE_RETENTION,
  /** Secret input of the stored key hashes. The key of the platform passwords is not known to this process. */
  PAMM_API_KEY_PEPPER: secretKey(),
  /** The previous pepper, while keys that were hashed with it are in use. */
  PAMM_API_KEY_PEPPER_OLD: optional(secretKey()),
  /** Encrypts the secrets of webhooks; without it none can be made. */
  PAMM_WEBHOOK_KEY: optional(secretKey()),
  /** The previous key: what it has encrypted is encrypted again at the start. */
  PAMM_WEBHOOK_KEY_OLD: optional(secretKey()),
  /** Proxies whose X-Forwarded-For is trusted. */
  PAMM_TRUSTED_PROXIES: optional(variable("addresses or networks separated by commas", parseAddresses)),
  /** The clock of the trade server, whose days can be asked for. */
  MT5_TIME_ZONE: optional(timeZone()),
  PAMM_RATE_READ: perSecond("2000"),
  PAMM_RATE_MONEY: perSecond("2000"),
  PAMM_RATE_CREATE: perSecond("200"),
  PAMM_CONCURRENT_READ: inProgress("512"),
  PAMM_CONCURRENT_MONEY: inProgress("512"),
  PAMM_CONCURRENT_CREATE: inProgress("128"),
};

function parseAddresses(text: string): readonly string[] | undefined {
  const addresses = text.split(",").map((part) => part.trim());
  return addresses.every(isAddressOrNetwork) ? addresses : undefined;
}
