import { status as GrpcStatus } from "@grpc/grpc-js";
import type { RefusalStatus } from "../refusal.ts";

/** For tools that know gRPC but not our Error. Our own clients read the Error in the trailing metadata. */
export const GRPC_STATUS: Readonly<Record<RefusalStatus, GrpcStatus>> = {
  invalid: GrpcStatus.INVALID_ARGUMENT,
  not_found: GrpcStatus.NOT_FOUND,
  conflict: GrpcStatus.ABORTED,
  unavailable: GrpcStatus.UNAVAILABLE,
  rejected: GrpcStatus.FAILED_PRECONDITION,
  unknown_outcome: GrpcStatus.UNKNOWN,
  forbidden: GrpcStatus.PERMISSION_DENIED,
  busy: GrpcStatus.RESOURCE_EXHAUSTED,
  internal: GrpcStatus.INTERNAL,
};
