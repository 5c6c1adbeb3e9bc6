import { type Client, type Contract, methodsOf } from "#kernel/contract/contract.ts";
import type { ServiceName } from "#catalogue/services.ts";
import type { Permissions } from "#kernel/contract/permissions.ts";
import { grpcClient } from "#kernel/grpc/client.ts";
import type { Identity } from "#kernel/identity.ts";
import { testIdentity } from "#kernel/testing/identity.ts";

type Options<C extends Contract> = {
  readonly contract: C;
  readonly service: ServiceName;
  readonly permissions: Permissions<C>;
  readonly identityOf?: (name: ServiceName) => Identity | Promise<Identity>;
};

/** A client that calls each method as a service that may use it. */
export async function permittedClient<C extends Contract>(
  address: string,
  { contract, service, permissions, identityOf = testIdentity }: Options<C>,
): Promise<Client<C> & Disposable> {
  const stack = new DisposableStack();
  const clients = new Map<ServiceName, Client<C>>();
  const entries: [string, unknown][] = [];
  for (const { name } of methodsOf(contract)) {
    const [caller] = permissions[name] ?? [];
    if (caller === undefined) continue;
    const client =
      clients.get(caller) ?? stack.use(grpcClient(address, { contract, service, identity: await identityOf(caller) }));
    clients.set(caller, client);
    entries.push([name, client[name]]);
  }
  return Object.assign(Object.fromEntries(entries) as Client<C>, { [Symbol.dispose]: () => stack.dispose() });
}
