import process from "node:process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Deal } from "../checks/violations.ts";
import type { Contestant } from "../contest/contestant.ts";

export type DepositServer = AsyncDisposable & {
  readonly contestant: Contestant;
  readonly deals: () => number;
};

const LOGINS = ["1", "2", "3"];
const LOST_DEAL = 7;

/** A contestant in this process that executes each deposit at once; a dishonest one answers 200 for one that it forgets. */
export async function serveDeposits({ isHonest }: { readonly isHonest: boolean }): Promise<DepositServer> {
  const deals = new Map<string, Deal[]>(LOGINS.map((login) => [login, []]));
  let tickets = 0;
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? "", "http://localhost");
    tickets += 1;
    const deal = { ticket: String(tickets), minor: 100n, comment: `P ${searchParams.get("comment")}` };
    if (isHonest || tickets !== LOST_DEAL) deals.get(searchParams.get("login") ?? "")?.push(deal);
    const body = JSON.stringify({ deal_id: tickets });
    response.writeHead(200, { "content-length": body.length }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const booksOf = (login: string) => {
    const own = deals.get(login) ?? [];
    const balance = own.reduce((sum, { minor }) => sum + minor, 0n);
    return { login, deals: own, platformMinor: balance, reportedMinor: balance };
  };
  return {
    contestant: {
      name: "server",
      endpoint: { host: "127.0.0.1", ports: [port], headers: {} },
      processes: () => new Map([["server", process.pid]]),
      pause: () => undefined,
      resume: () => Promise.resolve(),
      deposits: LOGINS.map((login) => ({
        method: "POST",
        path: `/?login=${login}&comment={n}`,
        login,
        minor: 100,
      })),
      books: (logins) => Promise.resolve(logins.map(booksOf)),
      findings: () => Promise.resolve([]),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    },
    deals: () => [...deals.values()].reduce((sum, own) => sum + own.length, 0),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
