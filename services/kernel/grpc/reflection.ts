import { existsSync, readFileSync } from "node:fs";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import type { Server } from "@grpc/grpc-js";
import { ReflectionService } from "@grpc/reflection";
import type { Log } from "../process/log.ts";

/** Written by `buf build` beside the generated code. */
const DESCRIPTOR = new URL("../../../proto/gen/descriptor.binpb", import.meta.url);
/** The format with the fewest other fields; the library reads the files of a definition only. */
const ENUM = "Protocol Buffer 3 EnumDescriptorProto";

/** Describes the services of these full names to tools such as grpcurl. */
export function addReflection(server: Server, services: readonly string[], log: Log): void {
  if (!existsSync(DESCRIPTOR)) {
    log.warn("gRPC reflection not started, descriptor set is missing, run the code generation");
    return;
  }
  // The library decodes all files again for each definition: one definition of all files starts a service a second sooner.
  const everything = { format: ENUM, type: {}, fileDescriptorProtos: filesOf(readFileSync(DESCRIPTOR)) } as const;
  new ReflectionService({ everything }, { services: [...services] }).addToServer(server);
}

/** The encoded files of a FileDescriptorSet, whose only field is `repeated FileDescriptorProto file`. */
function filesOf(descriptorSet: Uint8Array): Buffer[] {
  const reader = new BinaryReader(descriptorSet);
  const files: Buffer[] = [];
  while (reader.pos < reader.len) {
    reader.tag();
    files.push(Buffer.from(reader.bytes()));
  }
  return files;
}
