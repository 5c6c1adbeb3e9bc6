import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { generate } from "selfsigned";
import { randomOf } from "../support/random.ts";
import { type Books, createBooks } from "./books.ts";
import { answerTo, done, failure, orderOf, type BooksWithGroups } from "./commands.ts";
import { UNRELIABLE, UNDERSTANDABLE } from "./delivery.ts";
import { FORBIDDEN, httpAnswer, type Connection, readRequests, type Request, reset, send } from "./connection.ts";
import { distortedRead } from "./reads.ts";
import { CORRECT, MONEY_FAULTS } from "./money-faults.ts";

export const MANAGER = { login: "1005", password: "MoneyFault#2026pw" };
export const GROUPS = ["pamm\\master", "pamm\\investor", "pamm\\payment"];
/** References of deposits and withdrawals: their deals are compared with the request at once. */
const COMPARED = /^P[DW]/;

export type AdversarialPlatform = AsyncDisposable & {
  readonly url: string;
  /** PEM of its certificate. */
  readonly ca: string;
  readonly books: Books;
  /** Faults of the money requests of each login, oldest first. */
  readonly played: ReadonlyMap<string, readonly string[]>;
  readonly requests: () => number;
  /** Share of transfers, reads and connections with a fault, in percent; zero: correct answers only. */
  faultPercent: { transfers: number; reads: number; connections: number };
};

type Platform = {
  readonly books: BooksWithGroups;
  readonly seed: string;
  readonly played: Map<string, string[]>;
  asked: number;
  connections: number;
} & Pick<AdversarialPlatform, "faultPercent">;

/** A trade server written from the protocol documents alone; it answers in every way that they do not forbid. */
export async function startAdversarialPlatform(seed: number | string): Promise<AdversarialPlatform> {
  const pem = await generate([{ name: "commonName", value: "adversarial" }], {
    keyType: "ec",
    algorithm: "sha256",
    extensions: [{ name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] }],
  });
  const platform: Platform = {
    books: createBooks(new Set(GROUPS)),
    seed: String(seed),
    played: new Map(),
    asked: 0,
    connections: 0,
    faultPercent: { transfers: 0, reads: 0, connections: 0 },
  };
  const lines = new Set<Connection>();
  const tcp = createServer((raw) => {
    const line = lineOf(raw, new TLSSocket(raw, { isServer: true, key: pem.private, cert: pem.cert }));
    lines.add(line);
    raw.once("close", () => lines.delete(line));
    platform.connections += 1;
    if (randomOf(seed, "connection", platform.connections).chance(platform.faultPercent.connections)) {
      return reset(line);
    }
    readRequests(line, (request) => serve(platform, line, request));
  });
  tcp.listen(0, "127.0.0.1");
  await once(tcp, "listening");
  return Object.assign(platform, {
    url: `https://127.0.0.1:${(tcp.address() as { port: number }).port}`,
    ca: pem.cert,
    books: platform.books,
    requests: () => platform.asked,
    async [Symbol.asyncDispose]() {
      for (const line of lines) reset(line);
      tcp.close();
      await once(tcp, "close");
    },
  });
}

function lineOf(raw: Socket, tls: TLSSocket): Connection {
  // Errors of the peer are expected.
  for (const socket of [raw, tls]) socket.on("error", () => undefined);
  raw.setNoDelay(true);
  return { raw, tls, isSignedIn: false, challenge: undefined, kept: [], lastMoneyAnswer: undefined };
}

function serve(platform: Platform, line: Connection, request: Request): void {
  platform.asked += 1;
  const random = randomOf(platform.seed, request.path, platform.asked);
  if (request.path.startsWith("auth/")) return signIn(line, request);
  if (!line.isSignedIn) return send(line, FORBIDDEN);
  if (request.path === "trade/balance") return moveMoney(platform, line, request);
  const body = answerTo(platform.books, request.path, request.parameters);
  if (!random.chance(platform.faultPercent.reads)) return send(line, httpAnswer(body));
  const answer = random.chance(40) ? distortedRead(request.path, body, random) : body;
  const deliveries = random.chance(50) ? UNDERSTANDABLE : UNRELIABLE;
  deliveries[random.pick(Object.keys(deliveries))]?.(line, answer, random);
}

/** The fault of a request depends on the seed, the account and the number of its requests only. */
function moveMoney({ books, seed, played, faultPercent }: Platform, line: Connection, { parameters }: Request): void {
  const { login = "", comment = "" } = parameters;
  const own = played.get(login) ?? [];
  const account = books.accounts.get(login);
  const random = randomOf(seed, "order", account?.group ?? "", account?.name ?? login, own.length);
  const { name, play } = random.chance(faultPercent.transfers) ? random.pick(MONEY_FAULTS) : CORRECT;
  played.set(login, [...own, `${name}: ${parameters["balance"]} ${comment}`]);
  const order = orderOf(parameters);
  play({
    line,
    random,
    isCompared: COMPARED.test(comment),
    otherTicket: () => books.deals.findLast((deal) => deal.login !== login)?.ticket,
    execute({ comment: rewrite = (sent: string) => sent, visibleInMs: delayedMs = 0, otherwise } = {}) {
      const code = order === undefined ? 3 : books.judge(order);
      if (order === undefined || code !== 0) return remember(line, failure(code));
      const wanted = { ...order, comment: rewrite(order.comment) };
      const will = otherwise?.(wanted, [...books.accounts.keys()]) ?? wanted;
      const { ticket } = books.execute(will, { delayedMs, isAltered: otherwise !== undefined });
      return remember(line, done({ Ticket: String(ticket) }));
    },
  });
}

/** For the next request on this connection; the current one may still repeat the answer before. */
function remember(line: Connection, answer: string): string {
  queueMicrotask(() => (line.lastMoneyAnswer = httpAnswer(answer)));
  return answer;
}

function signIn(line: Connection, { path, parameters }: Request): void {
  if (path === "auth/start") {
    line.isSignedIn = false;
    line.challenge = randomBytes(16).toString("hex");
    const isKnown = parameters["login"] === MANAGER.login && parameters["type"] === "manager";
    return send(
      line,
      isKnown ? httpAnswer(done(undefined, { version_access: "4150", srv_rand: line.challenge })) : FORBIDDEN,
    );
  }
  const { challenge } = line;
  line.challenge = undefined;
  if (challenge === undefined || parameters["srv_rand_answer"] !== proofOf(challenge)) return send(line, FORBIDDEN);
  line.isSignedIn = true;
  const proof = proofOf(parameters["cli_rand"] ?? "");
  send(line, httpAnswer(done(undefined, { version_access: "4150", version_trade: "4150", cli_rand_answer: proof })));
}

/** MD5 over the password's hash and the other side's bytes; the hash of the page's chapter 2.2. */
function proofOf(challenge: string): string {
  const md5 = (...parts: Buffer[]): Buffer => createHash("md5").update(Buffer.concat(parts)).digest();
  const hash = md5(md5(Buffer.from(MANAGER.password, "utf16le")), Buffer.from("WebAPI", "ascii"));
  return md5(hash, Buffer.from(challenge, "hex")).toString("hex");
}
