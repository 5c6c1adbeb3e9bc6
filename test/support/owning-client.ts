import type { Client } from "#kernel/contract/contract.ts";
import type { ServiceName } from "#catalogue/services.ts";
import { grpcClient } from "#kernel/grpc/client.ts";
import type { Identity } from "#kernel/certificates/identity.ts";
import { testIdentity } from "#kernel/testing/identity.ts";
import { PlatformServiceService, type TransferRequest } from "#proto/pamm/platform/v1/platform.ts";
import { REQUESTERS, requesterOf } from "../../services/platform/checks/requester.ts";
import { PERMISSIONS } from "../../services/platform/permissions.ts";

type Platform = Client<PlatformServiceService>;
type IdentityOf = (name: ServiceName) => Identity | Promise<Identity>;

/**
 * A client of platform that calls each method as a service that may use it, and requests each transfer as the service that its key names. All
 * transfers of a batch have one owner.
 */
export async function owningClient(
  address: string,
  identityOf: IdentityOf = testIdentity,
): Promise<Platform & Disposable> {
  const stack = new DisposableStack();
  const clients = new Map<string, Platform>();
  const clientAs = async (name: ServiceName): Promise<Platform> => {
    const target = { contract: PlatformServiceService, service: "platform" } as const;
    const client = clients.get(name) ?? stack.use(grpcClient(address, { ...target, identity: await identityOf(name) }));
    clients.set(name, client);
    return client;
  };
  const permitted: [string, unknown][] = [];
  for (const [name, [caller]] of Object.entries<readonly ServiceName[]>(PERMISSIONS)) {
    const client: Readonly<Record<string, unknown>> = caller === undefined ? {} : await clientAs(caller);
    permitted.push([name, client[name]]);
  }
  for (const name of REQUESTERS) await clientAs(name);
  const ownerOfRequest = (request: TransferRequest | undefined): Platform => {
    const owner = clients.get(requesterOf(request?.key ?? "") ?? "");
    if (owner === undefined) throw new Error(`no service requests transfers under the key ${request?.key}`);
    return owner;
  };
  return {
    ...(Object.fromEntries(permitted) as Platform),
    transfer: async (request, context) => await ownerOfRequest(request).transfer(request, context),
    transferBatch: async (batch, context) => await ownerOfRequest(batch.requests[0]).transferBatch(batch, context),
    [Symbol.dispose]: () => stack.dispose(),
  };
}
