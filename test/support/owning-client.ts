import type { Client } from "#kernel/contract/contract.ts";
import { PlatformServiceService, type TransferRequest } from "#proto/pamm/platform/v1/platform.ts";
import type { ServiceName } from "#catalogue/services.ts";
import { grpcClient } from "#kernel/grpc/client.ts";
import type { Identity } from "#kernel/identity.ts";
import { testIdentity } from "#kernel/testing/identity.ts";
import { OWNERS, ownerOf } from "../../services/platform/checks/key-owner.ts";
import { PERMISSIONS } from "../../services/platform/permissions.ts";
import { permittedClient } from "./permitted-client.ts";

type Platform = Client<PlatformServiceService>;
type IdentityOf = (name: ServiceName) => Identity | Promise<Identity>;

const TARGET = { contract: PlatformServiceService, service: "platform" } as const;

/** A client of platform that requests each transfer as the service that its key names. All transfers of a batch have one owner. */
export async function owningClient(
  address: string,
  identityOf: IdentityOf = testIdentity,
): Promise<Platform & Disposable> {
  const stack = new DisposableStack();
  const permitted = stack.use(await permittedClient(address, { ...TARGET, permissions: PERMISSIONS, identityOf }));
  const owners = new Map<string, Platform>();
  for (const name of OWNERS) {
    owners.set(name, stack.use(grpcClient(address, { ...TARGET, identity: await identityOf(name) })));
  }
  const ownerOfRequest = (request: TransferRequest | undefined): Platform => {
    const owner = owners.get(ownerOf(request?.key ?? "") ?? "");
    if (owner === undefined) throw new Error(`no service requests transfers under the key ${request?.key}`);
    return owner;
  };
  return {
    ...permitted,
    transfer: async (request, context) => await ownerOfRequest(request).transfer(request, context),
    transferBatch: async (batch, context) => await ownerOfRequest(batch.requests[0]).transferBatch(batch, context),
    [Symbol.dispose]: () => stack.dispose(),
  };
}
