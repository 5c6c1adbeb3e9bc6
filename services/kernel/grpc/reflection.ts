import { existsSync, readFileSync } from "node:fs";
import type { Server } from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import type { Log } from "../log.ts";

/** Written by `buf build` beside the generated code. */
const DESCRIPTOR = new URL("../../../proto/gen/descriptor.binpb", import.meta.url);

/** Describes the services of these full names to tools such as grpcurl. */
export function addReflection(server: Server, services: readonly string[], log: Log): void {
  if (!existsSync(DESCRIPTOR)) {
    log.warn("gRPC reflection is off: the descriptor set is missing; run the code generation");
    return;
  }
  const everything = loadFileDescriptorSetFromBuffer(readFileSync(DESCRIPTOR));
  new ReflectionService(everything, { services: [...services] }).addToServer(server);
}
