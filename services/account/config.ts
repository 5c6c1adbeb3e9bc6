import { Type } from "typebox";
import { BACKBONE_SETTINGS, databaseUrl, grpcAddress } from "#kernel/backbone.ts";
import { optional, secretKey } from "#kernel/config-pieces.ts";

export const settings = Type.Object({
  ACCOUNT_DATABASE_URL: databaseUrl(),
  ...BACKBONE_SETTINGS,
  PLATFORM_GRPC_URL: grpcAddress(),
  SUBSCRIPTION_GRPC_URL: grpcAddress(),
  /** Seals platform passwords. */
  PAMM_ENCRYPTION_KEY: secretKey(),
  /** The key before, while passwords that it sealed are sealed anew one by one. */
  PAMM_ENCRYPTION_KEY_OLD: optional(secretKey()),
});
