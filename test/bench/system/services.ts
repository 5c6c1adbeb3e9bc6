import type { Client, Contract } from "#kernel/contract/contract.ts";
import type { Permissions, ServiceName } from "#kernel/contract/permissions.ts";
import { type Identity, readIdentity } from "#kernel/identity.ts";
import { permittedClient } from "#test/support/permitted-client.ts";
import { environmentOf } from "./environment.ts";
import type { System } from "./start-system.ts";

type Target<C extends Contract> = { readonly contract: C; readonly permissions: Permissions<C> };

/** A client of a service of the system, as the other services have: each method is called as one that may use it. The service must run. */
export async function serviceClient<C extends Contract>(
  system: System,
  service: ServiceName,
  target: Target<C>,
): Promise<Client<C> & Disposable> {
  const { GRPC_HOST: host, GRPC_PORT: port } = environmentOf(system, service);
  const identityOf = (name: ServiceName): Identity => {
    const { PAMM_TLS_CA_FILE = "", PAMM_TLS_CERT_FILE = "", PAMM_TLS_KEY_FILE = "" } = environmentOf(system, name);
    return readIdentity(name, { PAMM_TLS_CA_FILE, PAMM_TLS_CERT_FILE, PAMM_TLS_KEY_FILE });
  };
  return await permittedClient(`${host}:${port}`, { ...target, service, identityOf });
}
