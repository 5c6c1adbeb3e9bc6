import { BACKBONE_SETTINGS, databaseUrl, grpcAddress } from "#kernel/backbone.ts";
import { IDENTITY_SETTINGS } from "#kernel/identity.ts";
import { CHECK_SETTINGS } from "#kernel/reconcile/reconcile.ts";

export const settings = {
  FEE_DATABASE_URL: databaseUrl(),
  ...BACKBONE_SETTINGS,
  ...IDENTITY_SETTINGS,
  ...CHECK_SETTINGS,
  ACCOUNT_GRPC_URL: grpcAddress(),
  SUBSCRIPTION_GRPC_URL: grpcAddress(),
  PLATFORM_GRPC_URL: grpcAddress(),
};
