import type { Client } from "#kernel/contract/contract.ts";
import type { ServiceName } from "#catalogue/services.ts";
import { type Identity, readIdentity } from "#kernel/identity.ts";
import type { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { owningClient } from "#test/support/owning-client.ts";
import { environmentOf } from "./environment.ts";
import type { System } from "./start-system.ts";

/** A client of platform, as the other services have: it calls as the service that may. The service must run. */
export async function owningPlatform(system: System): Promise<Client<PlatformServiceService> & Disposable> {
  const { GRPC_HOST: host, GRPC_PORT: port } = environmentOf(system, "platform");
  return await owningClient(`${host}:${port}`, (name: ServiceName): Identity => {
    const { PAMM_TLS_CA_FILE = "", PAMM_TLS_CERT_FILE = "", PAMM_TLS_KEY_FILE = "" } = environmentOf(system, name);
    return readIdentity(name, { PAMM_TLS_CA_FILE, PAMM_TLS_CERT_FILE, PAMM_TLS_KEY_FILE });
  });
}
