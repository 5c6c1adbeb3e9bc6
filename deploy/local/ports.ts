import { createServer } from "node:net";

/** A port that nobody holds at this moment; whoever uses it must be ready to lose the race and ask again. */
export async function freePort(host = "127.0.0.1"): Promise<number> {
  const port = await tryPort(host, 0);
  if (port === undefined) throw new Error(`no free port on ${host}`);
  return port;
}

export async function isFree(host: string, port: number): Promise<boolean> {
  return (await tryPort(host, port)) !== undefined;
}

function tryPort(host: string, wanted: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(wanted, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? address?.port : undefined));
    });
  });
}
