/** The environment is not as it must be. The message is one line that says what is wrong and what to do about it. */
export class StartupError extends Error {
  override readonly name = "StartupError";
}

/** Why a server could not listen, in one line. */
export function listenError(what: string, host: string, port: number, error: unknown): StartupError {
  const cause = { cause: error };
  // Some libraries keep the code in the text only.
  const reason = error instanceof Error ? error.message : String(error);
  if (reason.includes("EADDRINUSE")) {
    return new StartupError(`port ${port} on ${host} is taken: choose another for ${what} or stop who holds it`, cause);
  }
  if (reason.includes("EACCES")) {
    return new StartupError(`port ${port} needs rights that we lack: choose one above 1023 for ${what}`, cause);
  }
  return new StartupError(`${what} cannot listen on ${host}:${port}: ${reason}`, cause);
}
