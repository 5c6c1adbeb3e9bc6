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
  const services = SERVICES.map((service) => {
    const local = serviceUrl(database, service, secrets.databasePasswordOf(service));
    const password = secrets.nats.passwordOf(service);
    const files: Files = {
      "database-url": databases.of(service) ?? local,
      "nats-url": settings.natsUrl ?? natsUrl(brokers, { user: service, password, isTls: true }),
      ...ownFiles(service),
    };
    return [service, files] as const;
  });
  const ownerUrlOf = (service: Service): string => {
    if (databases.of(service) !== undefined) return databases.ofOwner(service) ?? "";
    return ownerUrl(database, service, secrets.ownerPasswordOf(service));
  };
  const setupUrl = natsUrl(brokers, { password: secrets.nats.password, isTls: true });
  return {
    ...(Object.fromEntries(services) as Record<Service, Files>),
    simulator: ownFiles("simulator"),
    migrate: Object.fromEntries(SERVICES.map((service) => [migrationFile(service), ownerUrlOf(service)])),
    "init-streams": { [NATS_SETUP_FILE]: settings.natsUrl === undefined ? setupUrl : (settings.natsSetupUrl ?? "") },
  };
}
