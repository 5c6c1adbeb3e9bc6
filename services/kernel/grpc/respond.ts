import { Metadata, type sendUnaryData, status as GrpcStatus } from "@grpc/grpc-js";
import type { Answer } from "../contract/dispatch.ts";
import { encodeRefusal } from "../contract/error.ts";
import { HEADER } from "../contract/headers.ts";
import { Refusal, type RefusalStatus } from "../values/refusal.ts";

/** For tools that know gRPC but not the Error message. Clients of the services read the Error in the trailing metadata. */
const GRPC_STATUS: Readonly<Record<RefusalStatus, GrpcStatus>> = {
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

/** Text of the status of a replica that is stopping and has not read the call. */
export const LEAVING = "The replica is stopping and has not read the call";

/** Error metadata must stay under the header limit of HTTP/2 peers. */
const MAX_ERROR_BYTES = 6_000;
/** The message is in these headers twice: in the Error and as the text of the status. */
const MAX_MESSAGE_LENGTH = 500;

/** A refusal travels in the trailing metadata. */
export function respond(callback: sendUnaryData<Uint8Array>, answer: Answer): void {
  if (answer.ok) return callback(null, answer.payload);
  const metadata = new Metadata();
  metadata.set(HEADER.errorBytes, errorBytes(answer.refusal));
  const details = answer.refusal.message.slice(0, MAX_MESSAGE_LENGTH);
  callback({ code: GRPC_STATUS[answer.refusal.status], details, metadata });
}

/** For a client that sends the call to another replica. */
export function refuseUnread(callback: sendUnaryData<Uint8Array>): void {
  callback({ code: GrpcStatus.UNAVAILABLE, details: LEAVING });
}

/** An Error that is too long is sent without its lists, but with everything that callers branch on. */
function errorBytes(refusal: Refusal): Buffer {
  const bytes = encodeRefusal(refusal);
  if (bytes.length <= MAX_ERROR_BYTES) return Buffer.from(bytes);
  const { code, status, outcome, operationId, retryAfterMs } = refusal;
  const message = refusal.message.slice(0, MAX_MESSAGE_LENGTH);
  return Buffer.from(encodeRefusal(new Refusal({ code, status, message, outcome, operationId, retryAfterMs })));
}

/** A page of 500 feed entries of the largest size fits. */
export const MAX_MESSAGE_BYTES = 40 * 1_048_576;
