import { natsPermissions } from "./nats-users.ts";
import { type Service, SERVICES } from "./services.ts";

/** Paths of PEM files. */
export type ServerCertificate = { readonly certFile: string; readonly keyFile: string };

/** Of the human who runs the system, and of the set-up of streams. */
const OPERATOR = "operator";
/** Of the other nodes of a cluster. */
const ROUTE = "route";
/**
 * A stream is a copy of rows in the database, so a power cut may lose its last second: readers find the gap by number and
 * read the missing entries from their owner. The server's default is two minutes.
 */
const SYNC_INTERVAL = "1s";
/** Streams reserve their maximum size; the server would otherwise limit them to the disk space that is free at its start. */
const MAX_STORE = "64G";
/** As long as the longest request of the edge, a creation, and a little more: an answer after that is refused, and has no reader. */
const ANSWER_WITHIN = "35s";

export type NatsConfiguration = {
  /** host:port */
  readonly listen: string;
  readonly storeDir: string;
  readonly pidFile?: string;
  readonly password: string | undefined;
  readonly passwordOf?: ((service: Service) => string) | undefined;
  readonly tls?: ServerCertificate | undefined;
  /** Whether the server accepts sync_interval; see FIRST_WITH_SYNC_INTERVAL. */
  readonly hasSync: boolean;
  readonly cluster?: NatsCluster | undefined;
  /** Of this machine only: whether the server is healthy, and its figures. */
  readonly monitorPort?: number;
};

/** A node of several that hold the streams together. */
export type NatsCluster = {
  /** Its name, or `$VARIABLE`: then the server takes it from its environment. */
  readonly node: string;
  /** host:port */
  readonly listen: string;
  /** host:port of every node. */
  readonly nodes: readonly string[];
  /**
   * Which of them this node is. Without it, nodes publish the address of a connection, and try it for ever where it is not in the
   * certificate; a certificate with the names of all nodes needs none.
   */
  readonly advertise?: string;
  /** Of the nodes to each other, beside their certificates. */
  readonly password?: string;
  /** A node proves its name to the others with its own certificate. */
  readonly tls: ServerCertificate & { readonly caFile: string };
};

export function natsConfiguration(options: NatsConfiguration): string {
  const { listen, storeDir, pidFile, tls, hasSync, cluster, monitorPort } = options;
  const lines = [
    `listen: "${listen}"`,
    ...(pidFile === undefined ? [] : [`pid_file: ${JSON.stringify(pidFile)}`]),
    `jetstream { store_dir: ${JSON.stringify(storeDir)}, max_file_store: ${MAX_STORE}, ${hasSync ? `sync_interval: ${SYNC_INTERVAL}` : ""} }`,
    ...authorization(options),
    ...(tls === undefined
      ? []
      : [`tls { cert_file: ${JSON.stringify(tls.certFile)}, key_file: ${JSON.stringify(tls.keyFile)} }`]),
    ...(monitorPort === undefined ? [] : [`http: "127.0.0.1:${monitorPort}"`]),
    ...(cluster === undefined ? [] : clusterLines(cluster)),
  ];
  return `${lines.join("\n")}\n`;
}

function clusterLines({ node, listen, nodes, advertise, password, tls }: NatsCluster): string[] {
  const login = password === undefined ? "" : `${ROUTE}:${password}@`;
  const block = {
    name: "pamm",
    listen,
    ...(advertise === undefined ? {} : { advertise }),
    ...(password === undefined ? {} : { authorization: { user: ROUTE, password } }),
    // Clients have the names of all nodes, or one for all; the addresses that nodes would publish are in no certificate.
    no_advertise: true,
    routes: nodes.map((each) => `nats-route://${login}${each}`),
    tls: { cert_file: tls.certFile, key_file: tls.keyFile, ca_file: tls.caFile, verify: true },
  };
  const name = node.startsWith("$") ? node : JSON.stringify(node);
  return [`server_name: ${name}`, `cluster: ${JSON.stringify(block)}`];
}

function authorization({ password, passwordOf }: Pick<NatsConfiguration, "password" | "passwordOf">): string[] {
  if (password === undefined) return [];
  const services = passwordOf === undefined ? [] : SERVICES;
  const users = services.map((service) => {
    const { publish, subscribe, answers } = natsPermissions(service);
    const permissions = {
      publish: { allow: publish },
      subscribe: { allow: subscribe },
      ...(answers ? { allow_responses: { max: 1, expires: ANSWER_WITHIN } } : {}),
    };
    return { user: service, password: passwordOf?.(service), permissions };
  });
  return [`authorization: ${JSON.stringify({ users: [{ user: OPERATOR, password }, ...users] })}`];
}

type NatsAddress = {
  /** Of the user who may do everything, when no service is named. */
  readonly user?: Service;
  readonly password: string | undefined;
  readonly isTls: boolean;
};

/** The URL of the broker at host:port; of several nodes, separated by commas. */
export function natsUrl(servers: string | readonly string[], { user, password, isTls }: NatsAddress): string {
  const login = password === undefined ? "" : `${user ?? OPERATOR}:${password}@`;
  return [servers]
    .flat()
    .map((server) => `${isTls ? "tls" : "nats"}://${login}${server}`)
    .join(",");
}
