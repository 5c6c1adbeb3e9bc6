import { ownerUrl, prepareDatabase, serviceUrl } from "../../deploy/provision/database.ts";
import { migrateSchema } from "../../deploy/provision/migrate-schema.ts";
import { SERVICES } from "../../deploy/provision/services.ts";

const PASSWORD = "bench";

export type ServiceDatabases = {
  /** Of the superuser. */
  readonly url: string;
  readonly variablesOf: (service: string) => Readonly<Record<string, string>>;
};

/** The database of a server, with the roles and the migrated schemas of all services. */
export async function serviceDatabases(superuserUrl: string): Promise<ServiceDatabases> {
  await prepareDatabase(superuserUrl, { databasePasswordOf: () => PASSWORD, ownerPasswordOf: () => PASSWORD });
  const { host } = new URL(superuserUrl);
  for (const service of SERVICES) await migrateSchema(service, ownerUrl(host, service, PASSWORD));
  const own = new URL(superuserUrl);
  own.pathname = new URL(serviceUrl(host, "", PASSWORD)).pathname;
  return {
    url: own.href,
    variablesOf: (service) => ({
      [`${service.toUpperCase()}_DATABASE_URL`]: serviceUrl(host, service, PASSWORD),
      PAMM_MIGRATE: "check",
    }),
  };
}
