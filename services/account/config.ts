import { BACKBONE_SETTINGS, grpcAddress } from "#kernel/process/backbone.ts";
import { IDENTITY_SETTINGS } from "#kernel/certificates/identity.ts";
import { databaseUrl, migrationUrl } from "#kernel/postgres/migration.ts";
import { optional, secretKey, secretKeys } from "#kernel/process/config-variables.ts";
import { ACCOUNT_RETENTION } from "./retention.ts";

export const settings = {
  ACCOUNT_DATABASE_URL: databaseUrl(),
  ACCOUNT_DATABASE_MIGRATION_URL: optional(migrationUrl()),
  ...BACKBONE_SETTINGS,
  ...IDENTITY_SETTINGS,
  PLATFORM_GRPC_URL: grpcAddress(),
  SUBSCRIPTION_GRPC_URL: grpcAddress(),
  FEE_GRPC_URL: grpcAddress(),
  ...ACCOUNT_RETENTION,
  /** Encrypts platform passwords. */
  PAMM_ENCRYPTION_KEY: secretKey(),
  /** The previous key, while passwords that it encrypted are encrypted again. */
  PAMM_ENCRYPTION_KEY_OLD: optional(secretKeys()),
};
