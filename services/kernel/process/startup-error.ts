import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/** The environment is wrong. The message is one line with the cause and the remedy. */
export class StartupError extends Error {
  override readonly name = "StartupError";
}

/** Returns the port, which is a free one when 0 was asked for. */
export async function listen(server: Server, what: string, host: string, port: number): Promise<number> {
  try {
    await once(server.listen(port, host), "listening");
  } catch (error) {
    throw listenError(what, host, port, error);
  }
  return (server.address() as AddressInfo).port;
}

/** Why a server could not listen, in one line. */
export function listenError(what: string, host: string, port: number, error: unknown): StartupError {
  const cause = { cause: error };
  // Some libraries have the code in the message only.
  const reason = error instanceof Error ? error.message : String(error);
  if (reason.includes("EADDRINUSE")) {
    return new StartupError(
      `port ${port} on ${host} is taken: choose another for ${what} or stop the process that uses it`,
      cause,
    );
  }
  if (reason.includes("EACCES")) {
    return new StartupError(
      `port ${port} needs privileges that the process does not have: choose one above 1023 for ${what}`,
      cause,
    );
  }
  return new StartupError(`${what} cannot listen on ${host}:${port}: ${reason}`, cause);
}
