import { BACKBONE_SETTINGS, grpcAddress } from "#kernel/process/backbone.ts";
import { optional } from "#kernel/process/config-variables.ts";
import { IDENTITY_SETTINGS } from "#kernel/certificates/identity.ts";
import { databaseUrl, migrationUrl } from "#kernel/postgres/migration.ts";
import { CHECK_SETTINGS } from "#kernel/reconcile/reconcile.ts";
import { FUNDING_RETENTION } from "./retention.ts";

export const settings = {
  FUNDING_DATABASE_URL: databaseUrl(),
  FUNDING_DATABASE_MIGRATION_URL: optional(migrationUrl()),
  ...BACKBONE_SETTINGS,
  ...IDENTITY_SETTINGS,
  ...CHECK_SETTINGS,
  ...FUNDING_RETENTION,
  ACCOUNT_GRPC_URL: grpcAddress(),
  PLATFORM_GRPC_URL: grpcAddress(),
  SUBSCRIPTION_GRPC_URL: grpcAddress(),
};
