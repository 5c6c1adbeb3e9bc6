import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { Agent, request as requestSimulator } from "node:https";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { TLSSocket } from "node:tls";
import { testSimulator, type TestSimulator } from "#test/support/simulator.ts";
import { type Control, controlOf } from "../../../services/platform/testing/control.ts";
import { ensureCertificate } from "../../../services/simulator/webapi/certificate.ts";
import { parseQuery } from "../../../services/simulator/webapi/params.ts";
import { randomOf } from "../support/random.ts";
import { type Connection, httpAnswer, reset, send } from "./connection.ts";
import { RELIABLE, UNRELIABLE } from "./delivery.ts";
import { chooseFault, type Execution } from "./money-faults.ts";
import { distortedRead } from "./reads.ts";

/** References of deposits and withdrawals: their deals are compared with the request at once. */
const COMPARED = /^P[DW]/;
const MONEY = "trade/balance";
/** The service tries whether it may move money. */
const NO_AMOUNT = "balance=0.00";

export type AdversarialProxy = AsyncDisposable & {
  readonly url: string;
  readonly seed: number;
  readonly simulator: TestSimulator;
  readonly control: Control;
  /** Group and name of each account that was created through the proxy, by login. */
  readonly accounts: Map<string, string>;
  /** Faults on the money requests of each login, oldest first. */
  readonly faultsByLogin: Map<string, readonly string[]>;
  readonly executed: { readonly login: string; readonly ticket: string }[];
  /** Tickets of deals that a fault made different from the request, or additional to it. */
  readonly altered: Set<string>;
  /** Share of transfers, reads and connections with a fault, in percent; zero: correct answers only. */
  faultPercent: { transfers: number; reads: number; connections: number };
  requests: number;
  connections: number;
  /** Resolves when the last money command has been executed. */
  lastCommand: Promise<unknown>;
};

/** A TLS proxy in front of the simulator that falsifies requests and answers, and cuts connections. */
export async function startAdversarialProxy(seed: number): Promise<AdversarialProxy> {
  const simulator = await testSimulator();
  // The proxy has the simulator's certificate, as if it were the simulator.
  const { key, cert } = await ensureCertificate(dirname(simulator.caFile), []);
  const open = new Map<Socket, Connection>();
  // Parses requests only: answers are written as bytes, most of which are no valid HTTP.
  const http = createHttpServer((incoming) => {
    const connection = open.get(incoming.socket);
    if (connection !== undefined) serve(proxy, connection, incoming).catch(() => reset(connection));
  });
  const tcp = createServer((raw) => {
    const tls = new TLSSocket(raw, { isServer: true, key, cert });
    const connection = openConnection(proxy, raw, tls);
    open.set(tls, connection);
    raw.once("close", () => open.delete(tls));
    proxy.connections += 1;
    const random = randomOf(seed, "connection", proxy.connections);
    if (random.chance(proxy.faultPercent.connections)) reset(connection);
    else tls.once("secure", () => http.emit("connection", tls));
  });
  tcp.listen(0, "127.0.0.1");
  await once(tcp, "listening");
  const proxy: AdversarialProxy = {
    url: `https://127.0.0.1:${(tcp.address() as AddressInfo).port}`,
    seed,
    simulator,
    control: controlOf(simulator.controlUrl),
    accounts: new Map(),
    faultsByLogin: new Map(),
    executed: [],
    altered: new Set(),
    faultPercent: { transfers: 0, reads: 0, connections: 0 },
    requests: 0,
    connections: 0,
    lastCommand: Promise.resolve(),
    async [Symbol.asyncDispose]() {
      for (const connection of open.values()) reset(connection);
      tcp.close();
      await once(tcp, "close");
      await simulator[Symbol.asyncDispose]();
    },
  };
  return proxy;
}

function openConnection(proxy: AdversarialProxy, raw: Socket, tls: TLSSocket): Connection {
  const simulator = new Agent({ keepAlive: true, maxSockets: 1, ca: proxy.simulator.ca });
  // Errors of the peer are expected.
  for (const socket of [raw, tls]) socket.on("error", () => undefined);
  raw.setNoDelay(true);
  // A money command that the proxy received is executed even when its sender has ended.
  raw.once("close", () => void afterLastCommand(proxy, async () => simulator.destroy()));
  return { raw, tls, simulator, delayed: [], lastMoneyAnswer: undefined };
}

type Request = { readonly method: string; readonly path: string; readonly query: string; readonly body: string };

async function serve(proxy: AdversarialProxy, connection: Connection, incoming: IncomingMessage): Promise<void> {
  const body = await text(incoming);
  const [path = "", query = ""] = (incoming.url ?? "").replace("/api/", "").split("?");
  const request = { method: incoming.method ?? "", path, query, body };
  proxy.requests += 1;
  const random = randomOf(proxy.seed, path, proxy.requests);
  if (path === MONEY && !query.includes(NO_AMOUNT)) return await moveMoney(proxy, connection, request);
  if (path === "user/add") {
    const { Login, Group, Name } = JSON.parse(body) as Record<string, string>;
    proxy.accounts.set(Login!, `${Group}/${Name}`);
  }
  const { status, answer } = await forward(proxy, connection, request);
  // The service accepts a ticket whose deal it cannot read, so the read of an altered deal has no second fault.
  const isAltered = proxy.altered.has(query.replace("ticket=", ""));
  const mayFail = status === 200 && !path.startsWith("auth/") && !isAltered;
  if (!mayFail || !random.chance(proxy.faultPercent.reads)) {
    return send(connection, httpAnswer(answer, { status: `${status} From the simulator` }));
  }
  const falsified = random.chance(40) ? distortedRead(path, answer, random) : answer;
  const deliveries = random.chance(50) ? RELIABLE : UNRELIABLE;
  deliveries[random.pick(Object.keys(deliveries))]?.(connection, falsified, random);
}

/** The fault of a request depends on the seed, the account and the number of its requests only. */
async function moveMoney(proxy: AdversarialProxy, connection: Connection, request: Request): Promise<void> {
  const { seed, accounts, faultsByLogin, executed, faultPercent } = proxy;
  const parameters = Object.fromEntries(parseQuery(request.query) ?? []);
  const { login = "", balance: amount = "", comment = "" } = parameters;
  const own = faultsByLogin.get(login) ?? [];
  const accountName = accounts.get(login) ?? login;
  const random = randomOf(seed, "order", accountName, own.length);
  const chosen = { accountName, commands: own.length, faultPercent: faultPercent.transfers };
  const [name, applyFault] = chooseFault(random, chosen);
  const otherDeal = executed.findLast((deal) => deal.login !== login);
  faultsByLogin.set(login, [...own, `${name}: ${amount} ${comment}`]);
  await applyFault({
    connection,
    random,
    amount,
    comment,
    isCompared: COMPARED.test(comment),
    previousAnswer: connection.lastMoneyAnswer,
    otherLogin: otherDeal?.login ?? [...accounts.keys()].find((one) => one !== login)!,
    otherTicket: otherDeal?.ticket,
    execute: (execution) =>
      afterLastCommand(proxy, () => execute(proxy, connection, { request, parameters, ...execution })),
  });
}

type Command = Execution & { readonly request: Request; readonly parameters: Readonly<Record<string, string>> };

async function execute(
  proxy: AdversarialProxy,
  connection: Connection,
  { request, parameters, effect, delayMs = 0, rewrite = {}, isAltered = false }: Command,
): Promise<string> {
  if (effect !== undefined) await proxy.control.fault({ command: MONEY, effect, delay_ms: delayMs });
  const sent = { ...parameters, ...rewrite };
  const query = Object.entries(sent).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const answering = forward(proxy, connection, { ...request, query: query.join("&") });
  // Under a fault, the simulator may close the connection instead of answering.
  const { answer } = effect === undefined ? await answering : await answering.catch(() => ({ answer: "" }));
  const ticket = /"ticket":"(\d+)"/i.exec(answer)?.[1];
  if (ticket !== undefined) proxy.executed.push({ login: sent["login"] ?? "", ticket });
  if (ticket !== undefined && isAltered) proxy.altered.add(ticket);
  connection.lastMoneyAnswer = httpAnswer(answer);
  return answer;
}

/** One money command at a time, so that a fault of the control API affects the intended command. */
async function afterLastCommand<Result>(proxy: AdversarialProxy, act: () => Promise<Result>): Promise<Result> {
  const result = proxy.lastCommand.then(act);
  proxy.lastCommand = result.catch(() => undefined);
  return await result;
}

/** Rejects when the simulator closes the connection without an answer. */
async function forward({ simulator }: AdversarialProxy, connection: Connection, request: Request) {
  const { method, path, query, body } = request;
  const sent = requestSimulator({
    host: "127.0.0.1",
    port: simulator.port,
    agent: connection.simulator,
    method,
    path: `/api/${path}${query === "" ? "" : `?${query}`}`,
    headers: { "Content-Length": Buffer.byteLength(body) },
  });
  // An error also follows an answer when the simulator closes the connection.
  sent.on("error", () => undefined);
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, answer: await text(answer) };
}
