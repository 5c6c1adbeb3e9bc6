import { ownerUrl, serviceUrl } from "./database.ts";
import { natsUrl } from "./nats-configuration.ts";
import type { DatabaseUrls, OperatorSettings } from "./operator-settings.ts";
import { OWN_SECRETS, type Program, SECRET_VARIABLES, type Secrets } from "./secrets.ts";
import { type Service, SERVICES } from "./services.ts";

/** Texts by file name. */
export type Files = Readonly<Record<string, string>>;

/** The file with the URL of the user who may change streams; empty when the operator sets them up. */
export const NATS_SETUP_FILE = "nats-setup-url";

/** The file with the URL of a schema's owner; empty when the operator migrates. */
export function migrationFile(service: string): string {
  return `${service}-url`;
}

type Sources = {
  readonly settings: OperatorSettings;
  readonly databases: DatabaseUrls;
  readonly secrets: Secrets;
  /** The stores of the deployment, each as host:port. */
  readonly database: string;
  readonly brokers: readonly string[];
};

/** The secrets of each program where they are files, whatever the deployment. What the operator sets comes before what is generated. */
export function programFiles(sources: Sources): Readonly<Record<Program | "migrate" | "init-streams", Files>> {
  const { settings, databases, secrets, database, brokers } = sources;
  const ownFiles = (program: Program): Files => {
    const own = SECRET_VARIABLES.filter((name) => OWN_SECRETS[name].of.includes(program));
    return Object.fromEntries(own.map((name) => [OWN_SECRETS[name].file, settings.own[name] ?? secrets.own[name]]));
  };
  const urlsOf = (service: Service): { url: string; owner: string } => {
    const [url, owner = ""] = [databases.of(service), databases.ofOwner(service)];
    if (url !== undefined && databases.areAll) return { url, owner };
    // Also for a service with another database: the set-up gives each role its password, and can write none.
    const local = {
      url: serviceUrl(database, service, secrets.databasePasswordOf(service)),
      owner: ownerUrl(database, service, secrets.ownerPasswordOf(service)),
    };
    return url === undefined ? local : { url, owner };
  };
  const services = SERVICES.map((service) => {
    const password = secrets.nats.passwordOf(service);
    const files: Files = {
      "database-url": urlsOf(service).url,
      "nats-url": settings.natsUrl ?? natsUrl(brokers, { user: service, password, isTls: true }),
      ...ownFiles(service),
    };
    return [service, files] as const;
  });
  const setupUrl = natsUrl(brokers, { password: secrets.nats.password, isTls: true });
  return {
    ...(Object.fromEntries(services) as Record<Service, Files>),
    simulator: ownFiles("simulator"),
    migrate: Object.fromEntries(SERVICES.map((service) => [migrationFile(service), urlsOf(service).owner])),
    "init-streams": { [NATS_SETUP_FILE]: settings.natsUrl === undefined ? setupUrl : (settings.natsSetupUrl ?? "") },
  };
}
