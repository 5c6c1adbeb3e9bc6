import { ownerUrl, prepareDatabase, serviceUrl } from "../../deploy/provision/database.ts";

const PASSWORD = "bench";

export type ServiceDatabases = {
  /** Of the superuser. */
  readonly url: string;
  readonly variablesOf: (service: string) => Readonly<Record<string, string>>;
};

/** The database of a server, with the roles of the services, which migrate their schemas when they start. */
export async function serviceDatabases(superuserUrl: string): Promise<ServiceDatabases> {
  await prepareDatabase(superuserUrl, { databasePasswordOf: () => PASSWORD, ownerPasswordOf: () => PASSWORD });
  const { host } = new URL(superuserUrl);
  const own = new URL(superuserUrl);
  own.pathname = new URL(serviceUrl(host, "", PASSWORD)).pathname;
  return {
    url: own.href,
    variablesOf: (service) => ({
      [`${service.toUpperCase()}_DATABASE_URL`]: serviceUrl(host, service, PASSWORD),
      [`${service.toUpperCase()}_DATABASE_MIGRATION_URL`]: ownerUrl(host, service, PASSWORD),
      PAMM_MIGRATE: "auto",
    }),
  };
}
