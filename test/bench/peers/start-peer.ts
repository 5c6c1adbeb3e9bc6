import { join } from "node:path";
import type { Contestant } from "../contest/contestant.ts";
import { platformBooks } from "../contest/platform-books.ts";
import type { System } from "../system/start-system.ts";
import { createBooks, type BooksDatabase } from "./books.ts";
import { type PeerName, PEERS } from "./peers.ts";
import { createPlatformAccounts, type PeerPlatform } from "./platform.ts";
import { startProcesses } from "./processes.ts";

/** Starts a peer with a database of its own on the Postgres of the service. */
export async function startPeer(
  name: PeerName,
  {
    system,
    platform,
    accounts,
  }: { readonly system: System; readonly platform: PeerPlatform; readonly accounts: number },
): Promise<Contestant> {
  await using stack = new AsyncDisposableStack();
  const { slug, scripts } = PEERS[name];
  const logins = await createPlatformAccounts(platform, accounts);
  const books = stack.use(await createBooks(system.postgresUrl, `bench_${slug}`, logins));
  const env = { ...platform.variables, DATABASE_URL: books.url };
  const processes = stack.use(await startProcesses(scripts, env, join(system.folder, `${slug}.log`)));
  const held = stack.move();
  return {
    name,
    endpoint: processes.endpoint,
    processes: () =>
      new Map([
        ...processes.pids,
        ["simulator", platform.simulatorPid],
        ["nats", platform.natsPid],
        ["postgres", system.processes().get("postgres") ?? 0],
      ]),
    pause: () => processes.signal("SIGSTOP"),
    resume: () => Promise.resolve(processes.signal("SIGCONT")),
    deposits: logins.map((login) => ({
      method: "POST",
      path: `/deposit?login=${login}&amount=1.00&comment={n}`,
      login,
      minor: 100,
    })),
    books: (of) => platformBooks(platform, of, (login) => bookedBalance(books, login)),
    findings: () => Promise.resolve([]),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

async function bookedBalance({ pool }: BooksDatabase, login: string): Promise<bigint | undefined> {
  const { rows } = await pool.query<{ log_minor: bigint }>("select log_minor from platform.account where login = $1", [
    login,
  ]);
  return rows[0]?.log_minor;
}
