import { Type } from "typebox";
import { BACKBONE_SETTINGS, databaseUrl, grpcAddress } from "#kernel/backbone.ts";
import { flag } from "#kernel/config-pieces.ts";

export const settings = Type.Object({
  SUBSCRIPTION_DATABASE_URL: databaseUrl(),
  ...BACKBONE_SETTINGS,
  PLATFORM_GRPC_URL: grpcAddress(),
  ACCOUNT_GRPC_URL: grpcAddress(),
  FEE_GRPC_URL: grpcAddress(),
  /** An Investor may follow once in its life. */
  PAMM_SINGLE_SUBSCRIPTION: flag({ whenMissing: "false" }),
});
