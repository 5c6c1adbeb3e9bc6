import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { generate } from "selfsigned";
import { randomOf } from "../support/random.ts";
import { type Books, createBooks } from "./books.ts";
import { answerTo, done, failure, orderOf, type Shelf } from "./commands.ts";
import { HARMFUL, HARMLESS } from "./delivery.ts";
import { FORBIDDEN, httpAnswer, type Line, readRequests, type Request, reset, send } from "./line.ts";
import { distortedRead } from "./reads.ts";
import { HONEST, MONEY_SPITES } from "./hostility.ts";

export const MANAGER = { login: "1005", password: "Hostility#2026pw" };
export const GROUPS = ["pamm\\master", "pamm\\investor", "pamm\\payment"];
/** References of deposits and withdrawals: a person is told what became of them. */
const TOLD = /^P[DW]/;

export type AdversarialPlatform = AsyncDisposable & {
  readonly url: string;
  /** PEM of its certificate. */
  readonly ca: string;
  readonly books: Books;
  /** What was done with the orders for each login, oldest first. */
  readonly played: ReadonlyMap<string, readonly string[]>;
  readonly requests: () => number;
  /** In a hundred, of orders, of questions and of connections. All zero: honest from now on. */
  hostility: { orders: number; questions: number; connections: number };
};

type Platform = {
  readonly shelf: Shelf;
  readonly seed: string;
  readonly played: Map<string, string[]>;
  asked: number;
  connections: number;
} & Pick<AdversarialPlatform, "hostility">;

/** A trade server written from the protocol page alone, which may answer in every way that the page does not forbid. */
export async function startAdversarialPlatform(seed: number | string): Promise<AdversarialPlatform> {
  const pem = await generate([{ name: "commonName", value: "adversarial" }], {
    keyType: "ec",
    algorithm: "sha256",
    extensions: [{ name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] }],
  });
  const platform: Platform = {
    shelf: createBooks(new Set(GROUPS)),
    seed: String(seed),
    played: new Map(),
    asked: 0,
    connections: 0,
    hostility: { orders: 0, questions: 0, connections: 0 },
  };
  const lines = new Set<Line>();
  const tcp = createServer((raw) => {
    const line = lineOf(raw, new TLSSocket(raw, { isServer: true, key: pem.private, cert: pem.cert }));
    lines.add(line);
    raw.once("close", () => lines.delete(line));
    platform.connections += 1;
    if (randomOf(seed, "connection", platform.connections).chance(platform.hostility.connections)) return reset(line);
    readRequests(line, (request) => serve(platform, line, request));
  });
  tcp.listen(0, "127.0.0.1");
  await once(tcp, "listening");
  return Object.assign(platform, {
    url: `https://127.0.0.1:${(tcp.address() as { port: number }).port}`,
    ca: pem.cert,
    books: platform.shelf,
    requests: () => platform.asked,
    async [Symbol.asyncDispose]() {
      for (const line of lines) reset(line);
      tcp.close();
      await once(tcp, "close");
    },
  });
}

function lineOf(raw: Socket, tls: TLSSocket): Line {
  // Whatever the other side does to its connection is its own affair.
  for (const socket of [raw, tls]) socket.on("error", () => undefined);
  raw.setNoDelay(true);
  return { raw, tls, isSignedIn: false, challenge: undefined, kept: [], lastMoneyAnswer: undefined };
}

function serve(platform: Platform, line: Line, request: Request): void {
  platform.asked += 1;
  const random = randomOf(platform.seed, request.path, platform.asked);
  if (request.path.startsWith("auth/")) return signIn(line, request);
  if (!line.isSignedIn) return send(line, FORBIDDEN);
  if (request.path === "trade/balance") return moveMoney(platform, line, request);
  const body = answerTo(platform.shelf, request.path, request.parameters);
  if (!random.chance(platform.hostility.questions)) return send(line, httpAnswer(body));
  const told = random.chance(40) ? distortedRead(request.path, body, random) : body;
  const deliveries = random.chance(50) ? HARMLESS : HARMFUL;
  deliveries[random.pick(Object.keys(deliveries))]?.(line, told, random);
}

/** The same order on an account of the same name meets the same spite, whatever else goes on. */
function moveMoney({ shelf, seed, played, hostility }: Platform, line: Line, { parameters }: Request): void {
  const { login = "", comment = "" } = parameters;
  const own = played.get(login) ?? [];
  const account = shelf.accounts.get(login);
  const random = randomOf(seed, "order", account?.group ?? "", account?.name ?? login, own.length);
  const { name, play } = random.chance(hostility.orders) ? random.pick(MONEY_SPITES) : HONEST;
  played.set(login, [...own, `${name}: ${parameters["balance"]} ${comment}`]);
  const order = orderOf(parameters);
  play({
    line,
    random,
    isTold: TOLD.test(comment),
    otherTicket: () => shelf.deals.findLast((deal) => deal.login !== login)?.ticket,
    execute({ comment: rewrite = (sent: string) => sent, visibleInMs: delayedMs = 0, otherwise } = {}) {
      const code = order === undefined ? 3 : shelf.judge(order);
      if (order === undefined || code !== 0) return remember(line, failure(code));
      const wanted = { ...order, comment: rewrite(order.comment) };
      const will = otherwise?.(wanted, [...shelf.accounts.keys()]) ?? wanted;
      const { ticket } = shelf.execute(will, { delayedMs, isOwnWill: otherwise !== undefined });
      return remember(line, done({ Ticket: String(ticket) }));
    },
  });
}

/** For the next order on this connection; this one may still want to repeat what was said before. */
function remember(line: Line, answer: string): string {
  queueMicrotask(() => (line.lastMoneyAnswer = httpAnswer(answer)));
  return answer;
}

function signIn(line: Line, { path, parameters }: Request): void {
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
