import type { Client, Contract } from "#kernel/contract/contract.ts";
import { grpcClient } from "#kernel/grpc/client.ts";
import { environmentOf } from "./environment.ts";
import type { System } from "./start-system.ts";

/** A client of a service of the system, as the other services have. The service must run. */
export function serviceClient<C extends Contract>(system: System, name: string, contract: C): Client<C> & Disposable {
  const { GRPC_HOST: host, GRPC_PORT: port } = environmentOf(system, name);
  return grpcClient(`${host}:${port}`, { contract, caller: "bench" });
}
